package causeway;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class SqlTest {
    @Test
    void reads() {
        for (String query : List.of("SELECT 1", " select 1", "(SELECT 1)", "/* a */ -- b\n# c\nSELECT 1", "SHOW TABLES", "ROLLBACK", "/*/ SELECT */SELECT 1")) {
            assertEquals(List.of(false, false), List.of(Sql.mayCommit(query), Sql.mayCommitInside(query)), query);
        }
    }

    @Test
    void writes() {
        for (String query : List.of("INSERT INTO t VALUES (1)", "/*traceparent='0-1'*/ UPDATE t SET a = 1", "WITH c AS (SELECT 1) DELETE FROM t", "SET autocommit = 1")) {
            assertEquals(List.of(true, false), List.of(Sql.mayCommit(query), Sql.mayCommitInside(query)), query);
        }
    }

    @Test
    void commits() {
        for (String query : List.of("COMMIT", "BEGIN", "CALL p()", "/*! INSERT INTO t VALUES (1) */", "SELECT 1; INSERT INTO t VALUES (1)", "/* open", "", "ALTER TABLE t", "SELECTED")) {
            assertEquals(List.of(true, true), List.of(Sql.mayCommit(query), Sql.mayCommitInside(query)), query);
        }
    }
}
