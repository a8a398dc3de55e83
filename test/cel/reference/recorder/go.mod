module plinth.example.com/cel-recorder

go 1.19

require (
	k8s.io/apiextensions-apiserver v0.26.15
	k8s.io/apimachinery v0.26.15
)
