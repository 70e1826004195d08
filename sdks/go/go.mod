module github.com/remit-dev/remit/sdks/go

go 1.24
