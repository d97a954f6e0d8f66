module eleventy-plugin-twtxt/interop/saltpack

go 1.26.0

require (
	github.com/keybase/saltpack v0.0.0-20260909171118-5bef7952e563
	golang.org/x/crypto v0.46.0
)

require (
	github.com/keybase/go-codec v0.0.0-20180928230036-164397562123 // indirect
	golang.org/x/sys v0.39.0 // indirect
)
