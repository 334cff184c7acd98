module garth/garthtest

go 1.24
