/* The C client program: libmariadb's API, as JSON lines. */
#define _GNU_SOURCE
#include <mysql.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int seen;
static int first; /* whether the next part of a list is its first */

static void text(const char *s, unsigned long n) {
    putchar('"');
    for (unsigned long i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 32 || c > 126)
            printf("<%02x>", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void comma(void) {
    if (!first)
        putchar(',');
    first = 0;
}

static void begin(const char *name) {
    printf("{\"name\":\"libmariadb/%s\",\"value\":[", name);
    first = 1;
    seen++;
}

static void end(void) {
    puts("]}");
    fflush(stdout);
}

static void number(long long n) {
    comma();
    printf("%lld", n);
}

static void problem(unsigned errnum, const char *state, const char *message) {
    comma();
    printf("{\"errno\":%u,\"sqlstate\":\"%s\",\"message\":", errnum, state);
    text(message, strlen(message));
    putchar('}');
}

static MYSQL *open_with(const char *schema, const char *password, unsigned long flags, void (*options)(MYSQL *)) {
    MYSQL *m = mysql_init(NULL);
    unsigned on = 1;
    my_bool no = 0;
    mysql_options(m, MYSQL_OPT_LOCAL_INFILE, &on);
    mysql_options(m, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &no);
    mysql_options(m, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (options)
        options(m);
    if (!mysql_real_connect(m, getenv("CW_HOST"), getenv("CW_USER"), password ? password : getenv("CW_PASSWORD"), schema,
                            (unsigned)atoi(getenv("CW_PORT")), NULL, flags)) {
        problem(mysql_errno(m), mysql_sqlstate(m), mysql_error(m));
        mysql_close(m);
        return NULL;
    }
    return m;
}

static MYSQL *connection(void) { return open_with("clients", NULL, CLIENT_MULTI_RESULTS, NULL); }

static void fields(MYSQL_RES *r) {
    printf("{\"columns\":[");
    for (unsigned i = 0; i < mysql_num_fields(r); i++) {
        MYSQL_FIELD *f = mysql_fetch_field_direct(r, i);
        printf("%s[\"%s\",\"%s\",\"%s\",\"%s\",%d,%u,%lu,%u,%u]", i ? "," : "", f->name, f->org_name, f->table, f->db, f->type, f->flags,
               f->length, f->decimals, f->charsetnr);
    }
    printf("],\"rows\":[");
}

static void rows(MYSQL_RES *r) {
    comma();
    fields(r);
    MYSQL_ROW row;
    for (int n = 0; (row = mysql_fetch_row(r)); n++) {
        unsigned long *len = mysql_fetch_lengths(r);
        printf("%s[", n ? "," : "");
        for (unsigned i = 0; i < mysql_num_fields(r); i++) {
            if (i)
                putchar(',');
            if (row[i])
                text(row[i], len[i]);
            else
                printf("null");
        }
        putchar(']');
    }
    printf("]}");
}

/* Runs a statement and prints all of its results. */
static void run(MYSQL *m, const char *sql, int stored) {
    if (mysql_real_query(m, sql, strlen(sql))) {
        problem(mysql_errno(m), mysql_sqlstate(m), mysql_error(m));
        return;
    }
    int more;
    do {
        MYSQL_RES *r = stored ? mysql_store_result(m) : mysql_use_result(m);
        if (r) {
            rows(r);
            mysql_free_result(r);
        } else {
            const char *info = mysql_info(m);
            comma();
            printf("{\"affected\":%lld,\"id\":%lld,\"info\":", (long long)mysql_affected_rows(m), (long long)mysql_insert_id(m));
            text(info ? info : "", info ? strlen(info) : 0);
            putchar('}');
        }
        number(mysql_warning_count(m));
        if ((more = mysql_next_result(m)) > 0)
            problem(mysql_errno(m), mysql_sqlstate(m), mysql_error(m));
    } while (more == 0);
}

static void each(MYSQL *m, ...) {
    va_list list;
    va_start(list, m);
    for (const char *s; (s = va_arg(list, const char *));)
        run(m, s, 1);
    va_end(list);
}

/* Runs a check of plain statements on a connection of its own. */
#define CHECK(name, ...)                                                                                                               \
    do {                                                                                                                               \
        begin(name);                                                                                                                   \
        MYSQL *m = connection();                                                                                                       \
        if (m) {                                                                                                                       \
            each(m, __VA_ARGS__, (char *)NULL);                                                                                        \
            mysql_close(m);                                                                                                            \
        }                                                                                                                              \
        end();                                                                                                                         \
    } while (0)

static void basics(void) {
    begin("connect");
    MYSQL *m = connection();
    if (m) {
        comma();
        text(mysql_get_server_info(m), strlen(mysql_get_server_info(m)));
        number(mysql_get_proto_info(m));
        number((long long)mysql_get_server_version(m));
        each(m, "SELECT DATABASE(), CURRENT_USER(), @@character_set_client, @@collation_connection, @@sql_mode", (char *)NULL);
        number(mysql_ping(m));
        mysql_close(m);
    }
    end();
    begin("unknown schema");
    open_with("nosuch", NULL, 0, NULL);
    end();
    begin("wrong password");
    open_with("clients", "wrong", 0, NULL);
    end();
    begin("found rows");
    if ((m = open_with("clients", NULL, CLIENT_FOUND_ROWS, NULL))) {
        each(m, "UPDATE items SET qty = 5 WHERE id <= 2", "UPDATE items SET qty = 5 WHERE id <= 2", (char *)NULL);
        mysql_close(m);
    }
    end();
    begin("compression");
    if ((m = open_with("clients", NULL, CLIENT_COMPRESS, NULL))) {
        each(m, "SELECT word FROM numbers ORDER BY n LIMIT 100", (char *)NULL);
        mysql_close(m);
    }
    end();
    CHECK("types", "SELECT * FROM kinds ORDER BY id");
    CHECK("writes", "INSERT INTO items (name) VALUES ('c1')", "SELECT LAST_INSERT_ID()", "INSERT INTO items (name) VALUES ('c2'), ('c3')",
          "SELECT name FROM items WHERE name LIKE 'c_' ORDER BY name", "UPDATE items SET qty = 6 WHERE id <= 2", "UPDATE items SET qty = 6 WHERE id <= 3",
          "SELECT ROW_COUNT()", "DELETE FROM items WHERE name LIKE 'c_'", "REPLACE INTO items (id, name) VALUES (1, 'apple')");
    CHECK("errors", "SELEC 1", "SELECT * FROM nosuch", "INSERT INTO items (name) VALUES ('pear')", "INSERT INTO child (item) VALUES (-1)",
          "INSERT INTO strict VALUES (1000, 'x')", "", "SELECT COUNT(*) FROM numbers");
    CHECK("warnings", "SELECT CAST('x' AS SIGNED), 1/0", "SHOW WARNINGS", "DROP TABLE IF EXISTS nosuch", "SHOW WARNINGS");
    CHECK("transactions", "BEGIN", "UPDATE items SET qty = 41 WHERE id = 1", "SAVEPOINT a", "UPDATE items SET qty = 42 WHERE id = 1", "ROLLBACK TO a", "COMMIT",
          "SELECT qty FROM items WHERE id = 1", "SET autocommit = 0", "UPDATE items SET qty = 43 WHERE id = 1", "ROLLBACK", "SELECT qty FROM items WHERE id = 1",
          "START TRANSACTION READ ONLY", "UPDATE items SET qty = 44", "COMMIT", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SELECT @@transaction_isolation");
    CHECK("procedures", "CALL two_results()", "CALL in_out(4, @b, @c)", "SELECT @b", "CALL adds('by c')", "DELETE FROM items WHERE name = 'by c'", "CALL fails()", "SELECT COUNT(*) FROM numbers");
    CHECK("state", "SET time_zone = '+03:00'", "SELECT ts FROM kinds WHERE id = 1", "SET @x = 5", "SELECT @x, COUNT(*) FROM numbers", "CREATE TEMPORARY TABLE items (a INT)", "SELECT * FROM items",
          "DROP TEMPORARY TABLE items", "SELECT name FROM items WHERE id = 2", "HANDLER items OPEN", "HANDLER items READ FIRST", "HANDLER items CLOSE", "LOCK TABLES items READ", "SELECT COUNT(*) FROM numbers", "UNLOCK TABLES");
}

static void commands(void) {
    begin("several statements");
    MYSQL *m = open_with("clients", NULL, CLIENT_MULTI_STATEMENTS, NULL);
    if (m) {
        each(m, "SELECT 1; UPDATE items SET qty = 7 WHERE id = 1; SELECT qty FROM items WHERE id = 1", "SELECT 1; SELEC 2; SELECT 3", (char *)NULL);
        number(mysql_set_server_option(m, MYSQL_OPTION_MULTI_STATEMENTS_OFF));
        run(m, "SELECT 1; SELECT 2", 1);
        number(mysql_set_server_option(m, MYSQL_OPTION_MULTI_STATEMENTS_ON));
        run(m, "SELECT 1; SELECT 2", 1);
        mysql_close(m);
    }
    end();
    begin("schema, charset, user, reset");
    if ((m = connection())) {
        number(mysql_select_db(m, "clients2"));
        run(m, "SELECT name FROM items", 1);
        number(mysql_select_db(m, "nosuch"));
        problem(mysql_errno(m), mysql_sqlstate(m), mysql_error(m));
        run(m, "SELECT name FROM items", 1);
        number(mysql_set_character_set(m, "latin1"));
        run(m, "SELECT 'x', @@character_set_results, (SELECT l1 FROM clients.kinds WHERE id = 1)", 1);
        each(m, "SET @x = 5", "SET sql_mode = ''", "CREATE TEMPORARY TABLE gone (a INT)", (char *)NULL);
        number(mysql_reset_connection(m));
        each(m, "SELECT @x, @@sql_mode, DATABASE(), @@character_set_client", "SELECT * FROM gone", (char *)NULL);
        mysql_close(m);
    }
    end();
    begin("change user");
    if ((m = connection())) {
        run(m, "SET @x = 5", 1);
        if (mysql_change_user(m, getenv("CW_USER"), getenv("CW_PASSWORD"), "clients2"))
            problem(mysql_errno(m), mysql_sqlstate(m), mysql_error(m));
        else
            each(m, "SELECT @x, DATABASE()", "SELECT name FROM items", (char *)NULL);
        mysql_close(m);
    }
    end();
    begin("connection id");
    if ((m = connection())) {
        mysql_query(m, "SELECT CONNECTION_ID()");
        MYSQL_RES *r = mysql_store_result(m);
        MYSQL_ROW row = r ? mysql_fetch_row(r) : NULL;
        number(row && strtoul(row[0], NULL, 10) == mysql_thread_id(m));
        mysql_free_result(r);
        mysql_close(m);
    }
    end();
    begin("row by row");
    if ((m = connection())) {
        run(m, "SELECT n FROM numbers WHERE n < 20 ORDER BY n", 0);
        run(m, "SELECT COUNT(*) FROM numbers", 1);
        mysql_close(m);
    }
    end();
    begin("statistics");
    if ((m = connection())) {
        number(mysql_stat(m) != NULL);
        number(mysql_refresh(m, 0));
        run(m, "SELECT COUNT(*) FROM numbers", 1);
        mysql_close(m);
    }
    end();
    begin("debug command");
    if ((m = connection())) {
        number(mysql_dump_debug_info(m));
        mysql_close(m);
    }
    end();
    begin("load data");
    char *path = NULL, *sql = NULL;
    if (asprintf(&path, "%s/load-c.tsv", getenv("CW_TMP")) > 0 && asprintf(&sql, "LOAD DATA LOCAL INFILE '%s' INTO TABLE loaded", path) > 0 && (m = connection())) {
        FILE *f = fopen(path, "w");
        for (int i = 0; f && i < 100; i++)
            fputs("1\tone\t1.5\n2\ttwo\t-2\n", f);
        if (f)
            fclose(f);
        each(m, sql, "SELECT a, b, c, COUNT(*) FROM loaded GROUP BY a, b, c ORDER BY a", "DELETE FROM loaded", "LOAD DATA LOCAL INFILE '/nosuch' INTO TABLE loaded", "SELECT COUNT(*) FROM numbers", (char *)NULL);
        mysql_close(m);
    }
    end();
}

static void failed(MYSQL_STMT *s) { problem(mysql_stmt_errno(s), mysql_stmt_sqlstate(s), mysql_stmt_error(s)); }

/* Executes with one integer and prints the first column of all rows as text. */
static void execute(MYSQL_STMT *s, int *arg) {
    MYSQL_BIND in = {0}, out = {0};
    char buffer[64];
    unsigned long length = 0;
    my_bool null = 0;
    in.buffer_type = arg ? MYSQL_TYPE_LONG : MYSQL_TYPE_NULL;
    in.buffer = arg;
    out.buffer_type = MYSQL_TYPE_STRING;
    out.buffer = buffer;
    out.buffer_length = sizeof buffer;
    out.length = &length;
    out.is_null = &null;
    if (mysql_stmt_bind_param(s, &in) || mysql_stmt_execute(s)) {
        failed(s);
        return;
    }
    if (!mysql_stmt_field_count(s)) {
        number((long long)mysql_stmt_affected_rows(s));
        number((long long)mysql_stmt_insert_id(s));
        return;
    }
    mysql_stmt_bind_result(s, &out);
    int rc;
    while ((rc = mysql_stmt_fetch(s)) == 0) {
        comma();
        text(null ? "NULL" : buffer, null ? 4 : length);
    }
    number(rc);
    if (rc == 1)
        failed(s);
    mysql_stmt_free_result(s);
}

static MYSQL_STMT *prepare(MYSQL *m, const char *sql, unsigned long cursor) {
    MYSQL_STMT *s = mysql_stmt_init(m);
    unsigned long some = 7;
    if (cursor) {
        mysql_stmt_attr_set(s, STMT_ATTR_CURSOR_TYPE, &cursor);
        mysql_stmt_attr_set(s, STMT_ATTR_PREFETCH_ROWS, &some);
    }
    if (mysql_stmt_prepare(s, sql, strlen(sql))) {
        failed(s);
        mysql_stmt_close(s);
        return NULL;
    }
    return s;
}

static void one(MYSQL *m, const char *sql, unsigned long cursor, int from, int to) {
    MYSQL_STMT *s = prepare(m, sql, cursor);
    if (!s)
        return;
    number(mysql_stmt_param_count(s));
    number(mysql_stmt_field_count(s));
    for (int i = from; i <= to; i++)
        execute(s, &i);
    execute(s, NULL);
    number(mysql_stmt_reset(s));
    execute(s, &to);
    mysql_stmt_close(s);
}

static void long_data(MYSQL *m) {
    MYSQL_STMT *s = prepare(m, "INSERT INTO blobs (id, v) VALUES (5, ?)", 0);
    if (!s)
        return;
    MYSQL_BIND in = {0};
    in.buffer_type = MYSQL_TYPE_LONG_BLOB;
    mysql_stmt_bind_param(s, &in);
    char *part = malloc(1 << 20);
    memset(part, 0xfe, 1 << 20);
    for (int i = 0; i < 3; i++)
        number(mysql_stmt_send_long_data(s, 0, part, 1 << 20));
    free(part);
    if (mysql_stmt_execute(s))
        failed(s);
    number((long long)mysql_stmt_affected_rows(s));
    mysql_stmt_close(s);
    each(m, "SELECT LENGTH(v), HEX(RIGHT(v, 2)) FROM blobs WHERE id = 5", "DELETE FROM blobs", (char *)NULL);
}

static void prepared(void) {
    MYSQL *m;
    begin("executed again");
    if ((m = connection())) {
        one(m, "SELECT word FROM numbers WHERE n = ?", 0, 1, 5);
        one(m, "INSERT INTO items (name, qty) VALUES (CONCAT('prep', ?), 1)", 0, 1, 3);
        each(m, "SELECT name FROM items WHERE name LIKE 'prep%' ORDER BY name", "DELETE FROM items WHERE name LIKE 'prep%'", (char *)NULL);
        mysql_close(m);
    }
    end();
    begin("cursor");
    if ((m = connection())) {
        one(m, "SELECT word FROM numbers WHERE n > ? AND n < 40 ORDER BY n", CURSOR_TYPE_READ_ONLY, 10, 12);
        run(m, "SELECT COUNT(*) FROM numbers", 1);
        mysql_close(m);
    }
    end();
    begin("errors of prepared statements");
    if ((m = connection())) {
        one(m, "SELEC ?", 0, 1, 1);
        one(m, "SELECT ? FROM nosuch", 0, 1, 1);
        one(m, "INSERT INTO items (id, name) VALUES (?, 'pear')", 0, 900, 901);
        one(m, "SELECT n FROM numbers WHERE n = ?", 0, 3, 4);
        mysql_close(m);
    }
    end();
    begin("long data");
    if ((m = connection())) {
        long_data(m);
        mysql_close(m);
    }
    end();
    begin("many statements");
    if ((m = connection())) {
        MYSQL_STMT *all[50];
        char sql[100];
        for (int i = 0; i < 50; i++) {
            snprintf(sql, sizeof sql, "SELECT n + %d FROM numbers WHERE n = ?", i);
            all[i] = prepare(m, sql, 0);
        }
        for (int i = 49; i >= 0; i--) {
            int n = i + 1;
            execute(all[i], &n);
            mysql_stmt_close(all[i]);
        }
        mysql_close(m);
    }
    end();
}

int main(void) {
    basics();
    commands();
    prepared();
    printf("{\"name\":\"end\",\"value\":%d}\n", seen);
    return 0;
}
