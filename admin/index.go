package admin

import (
	"html/template"
	"net/http"
)

var indexPage = template.Must(template.New("index").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Causeway</title>
<h1>Causeway {{.Version}}</h1>
<p>{{if .Ready}}Ready.{{else}}Not ready:{{end}}</p>
{{with .Reasons}}<ul>{{range .}}<li>{{.}}</li>{{end}}</ul>{{end}}
<table>
<tr><th>server</th><th>role</th><th>state</th></tr>
{{range .Nodes}}<tr><td>{{.Addr}}</td><td>{{.Role}}</td><td>{{if .Usable}}usable{{else}}{{.Reason}}{{end}}</td></tr>
{{end}}</table>
<ul>
<li><a href="/metrics">/metrics</a>: counters for Prometheus</li>
<li><a href="/readyz">/readyz</a>: can clients be sent here?</li>
<li><a href="/healthz">/healthz</a>: does the process live?</li>
</ul>
</html>
`))

// index shows the same judgement as /readyz to a person.
func (s *Server) index(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	_ = indexPage.Execute(w, struct {
		Version string
		readiness
	}{s.opts.Version, judge(s.opts.View(), s.opts.Status())})
}
