//go:build oldest

package main

var operatorChecks []check
