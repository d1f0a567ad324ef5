// Command example is a tiny web application with Causeway's helper: a browser
// posts a comment, is redirected, and reads it back. It takes its settings from the
// environment: LISTEN, CW_HOST, CW_PORT, CW_USER, CW_PASSWORD; HELPER=off
// leaves the helper out, TRACER=below or above adds a tracer on that side of the helper.
package main

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"html"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/go-sql-driver/mysql"

	causeway "causeway/clients/go"
)

func main() {
	db, err := open()
	if err != nil {
		log.Fatal(err)
	}
	var handler http.Handler = (&app{db}).routes()
	if os.Getenv("HELPER") != "off" {
		handler = causeway.Middleware(handler, causeway.Options{})
	}
	log.Fatal(http.ListenAndServe(os.Getenv("LISTEN"), handler))
}

// open makes the pool: the driver, the helper, and where wanted a tracer.
func open() (*sql.DB, error) {
	config := mysql.NewConfig()
	config.Net, config.Addr = "tcp", net.JoinHostPort(os.Getenv("CW_HOST"), os.Getenv("CW_PORT"))
	config.User, config.Passwd, config.DBName = os.Getenv("CW_USER"), os.Getenv("CW_PASSWORD"), "web"
	var connector driver.Connector
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	if os.Getenv("TRACER") == "below" {
		connector = tracer{Connector: connector}
	}
	if os.Getenv("HELPER") != "off" {
		connector = causeway.Connector(connector)
	}
	if os.Getenv("TRACER") == "above" {
		connector = tracer{Connector: connector, behind: true}
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8)
	return db, nil
}

type app struct{ db *sql.DB }

func (a *app) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /comments", a.post)
	mux.HandleFunc("GET /comments/{id}", a.show)
	return mux
}

// post writes a comment and redirects to it. The form says how it is written,
// as applications have their ways.
func (a *app) post(w http.ResponseWriter, r *http.Request) {
	id, err := a.write(r, r.FormValue("text"), r.FormValue("how"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	http.Redirect(w, r, fmt.Sprintf("/comments/%d?how=%s", id, r.FormValue("how")), http.StatusSeeOther)
}

const insert = "INSERT INTO comments (text) VALUES (?)"

func (a *app) write(r *http.Request, text, how string) (int64, error) {
	if how == "autocommit" {
		result, err := a.db.ExecContext(r.Context(), insert, text)
		if err != nil {
			return 0, err
		}
		return result.LastInsertId()
	}
	tx, err := a.db.BeginTx(r.Context(), nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	result, err := tx.ExecContext(r.Context(), insert, text)
	if err != nil {
		return 0, err
	}
	id, err := result.LastInsertId()
	if err != nil || how == "rollback" {
		return id, err
	}
	return id, tx.Commit()
}

// show reads a comment, some in a read-only transaction.
func (a *app) show(w http.ResponseWriter, r *http.Request) {
	text, err := a.read(r)
	switch {
	case err == sql.ErrNoRows:
		http.Error(w, "no such comment", http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		fmt.Fprintf(w, "<p>%s</p>\n", html.EscapeString(text))
	}
}

func (a *app) read(r *http.Request) (text string, err error) {
	const query = "SELECT text FROM comments WHERE id = ?"
	if r.FormValue("how") == "autocommit" {
		err = a.db.QueryRowContext(r.Context(), query, r.PathValue("id")).Scan(&text)
		return text, err
	}
	tx, err := a.db.BeginTx(r.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return "", err
	}
	defer tx.Rollback()
	if err := tx.QueryRowContext(r.Context(), query, r.PathValue("id")).Scan(&text); err != nil {
		return "", err
	}
	return text, tx.Commit()
}
