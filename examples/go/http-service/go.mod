module github.com/remit-dev/remit/examples/go/http-service

go 1.24

require github.com/remit-dev/remit/sdks/go v0.0.0

replace github.com/remit-dev/remit/sdks/go => ../../../sdks/go
