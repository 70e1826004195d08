// Renders a chart as `helm template` does: the templates of Go, the functions of sprig, and those that
// Helm adds. Reads values and release as JSON from standard input, and writes the manifests as YAML.
// A function that is missing here fails the test; Helm itself is in neither Debian nor npm.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func toYaml(value interface{}) (string, error) {
	text, err := yaml.Marshal(value)
	return strings.TrimSuffix(string(text), "\n"), err
}

func main() {
	folder := os.Args[1]
	input := map[string]interface{}{}
	check(json.NewDecoder(os.Stdin).Decode(&input))

	// Helm reads a value that is missing as nil, and prints it as nothing.
	root := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	delete(functions, "env")
	delete(functions, "expandenv")
	functions["toYaml"] = toYaml
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text strings.Builder
		err := root.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	functions["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, fmt.Errorf("%s", message)
		}
		return value, nil
	}
	root.Funcs(functions)

	files, err := filepath.Glob(filepath.Join(folder, "templates", "*"))
	check(err)
	sort.Strings(files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(err)
		_, err = root.New(filepath.Base(file)).Parse(string(text))
		check(err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasPrefix(name, "_") {
			continue
		}
		var text strings.Builder
		check(root.ExecuteTemplate(&text, name, input))
		rendered := strings.ReplaceAll(text.String(), "<no value>", "")
		if strings.TrimSpace(rendered) != "" {
			fmt.Printf("---\n# Source: %s\n%s\n", name, rendered)
		}
	}
}
