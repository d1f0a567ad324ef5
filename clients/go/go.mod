module causeway/clients/go

go 1.24
