package claims

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// declared lists what the files of a package declare: Name, and Type.Field or Type.Method.
func declared(t *testing.T, dir string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				names[receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if spec, ok := s.(*ast.TypeSpec); ok {
						names[spec.Name.Name] = true
						for _, field := range fields(spec) {
							names[spec.Name.Name+"."+field] = true
						}
					}
				}
			}
		}
	}
	return names
}

// receiver is "Type." of a method, and nothing of a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}

func fields(spec *ast.TypeSpec) (names []string) {
	if structure, ok := spec.Type.(*ast.StructType); ok {
		for _, field := range structure.Fields.List {
			for _, n := range field.Names {
				names = append(names, n.Name)
			}
		}
	}
	return names
}

// "package: Name, Type.Method, file; package" must name what exists; a lower-case word is a file of the package.
func TestWhereNamesWhatExists(t *testing.T) {
	aside := regexp.MustCompile(`\([^)]*\)|, bounds .*|takes the mean off|adversary .*|with noise`)
	known := map[string]map[string]bool{}
	for _, c := range All() {
		for _, part := range strings.Split(aside.ReplaceAllString(c.Where, ""), ";") {
			part = strings.TrimSpace(part)
			if part == "none" || strings.HasPrefix(part, "hubbub ") {
				continue
			}
			folder, list, _ := strings.Cut(part, ":")
			dir := filepath.Join("..", filepath.FromSlash(folder))
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				t.Errorf("%s: there is no package %q", c.ID, folder)
				continue
			}
			if known[folder] == nil {
				known[folder] = declared(t, dir)
			}
			for _, name := range strings.Split(list, ",") {
				name = strings.TrimSpace(name)
				switch {
				case name == "":
				case unicode.IsUpper(rune(name[0])):
					if !known[folder][name] {
						t.Errorf("%s: %s declares no %q", c.ID, folder, name)
					}
				default:
					if _, err := os.Stat(filepath.Join(dir, name+".go")); err != nil {
						t.Errorf("%s: %s has no file %s.go", c.ID, folder, name)
					}
				}
			}
		}
	}
}
