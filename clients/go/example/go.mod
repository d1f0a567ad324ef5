module causeway/clients/go/example

go 1.24.0

require (
	causeway/clients/go v0.0.0
	github.com/go-sql-driver/mysql v1.10.1
)

require filippo.io/edwards25519 v1.2.0 // indirect

replace causeway/clients/go => ../
