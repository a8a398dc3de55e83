// Prints the verdicts of kube-apiserver's own validation on the cases of this folder; see ../record.ts.
//
// Reads a JSON array of cases from standard input and writes a JSON object of verdicts by their names to standard output. Nothing
// is served: definitions and objects are defaulted, pruned and validated by the functions that the server calls for them.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	objectvalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const schemaPath = "spec.validation.openAPIV3Schema"

// A definition's schema, and objects of its kind.
type testCase struct {
	Name    string                          `json:"name"`
	Schema  apiextensionsv1.JSONSchemaProps `json:"schema"`
	Objects []json.RawMessage               `json:"objects"`
	Old     json.RawMessage                 `json:"old"`
}

// What is wrong with the definition and with each object: reasons and fields of the causes. Empty where nothing is.
type verdict struct {
	Definition []string `json:"definition"`
	// Estimated costs of the rules of the spec; absent where the schema or a rule is invalid.
	Estimates []string   `json:"estimates,omitempty"`
	Objects   [][]string `json:"objects,omitempty"`
	// What the rules of the spec cost for each object.
	Costs [][]uint64 `json:"costs,omitempty"`
}

var (
	scheme = runtime.NewScheme()
	kind   = schema.GroupVersionKind{Group: "cel.example.com", Version: "v1", Kind: "Case"}
)

func main() {
	install.Install(scheme)
	var cases []testCase
	check(json.NewDecoder(os.Stdin).Decode(&cases))
	verdicts := map[string]verdict{}
	for _, one := range cases {
		verdicts[one.Name] = verdictOf(one)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(verdicts))
}

func verdictOf(one testCase) verdict {
	definition := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "cases.cel.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: kind.Group,
			Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: "cases", Singular: "case", Kind: kind.Kind, ListKind: "CaseList",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: kind.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &one.Schema},
			}},
		},
	}
	scheme.Default(definition)
	internal := &apiextensions.CustomResourceDefinition{}
	check(scheme.Convert(definition, internal, nil))
	found := verdict{Definition: causes(validation.ValidateCustomResourceDefinition(context.Background(), internal))}
	for _, cause := range found.Definition {
		if !strings.HasPrefix(cause, string(field.ErrorTypeForbidden)) {
			return found
		}
	}
	internalSchema := internal.Spec.Validation
	structural, err := structuralschema.NewStructural(internalSchema.OpenAPIV3Schema)
	check(err)
	spec := structural.Properties["spec"]
	rules := rulesOf(&spec)
	for _, rule := range rules {
		found.Estimates = append(found.Estimates, fmt.Sprint(rule.MaxCost))
	}
	if len(found.Definition) > 0 {
		return found
	}
	validator, _, err := objectvalidation.NewSchemaValidator(internalSchema)
	check(err)
	structurals := map[string]*structuralschema.Structural{kind.Version: structural}
	strategy := customresource.NewStrategy(scheme, false, kind, validator, nil, structurals, nil, nil)
	for _, raw := range one.Objects {
		object := objectOf(raw, structural)
		var errs field.ErrorList
		if one.Old == nil {
			errs = strategy.Validate(context.Background(), object)
			found.Costs = append(found.Costs, costsOf(rules, object.Object["spec"], &spec))
		} else {
			old := objectOf(one.Old, structural)
			old.SetResourceVersion("1")
			object.SetResourceVersion("1")
			errs = strategy.ValidateUpdate(context.Background(), object, old)
		}
		found.Objects = append(found.Objects, causes(errs))
	}
	return found
}

func rulesOf(schema *structuralschema.Structural) []cel.CompilationResult {
	declared := model.SchemaDeclType(schema, schema.XEmbeddedResource)
	if declared == nil {
		return nil
	}
	rules, err := cel.Compile(schema, declared, cel.PerCallLimit)
	check(err)
	return rules
}

func costsOf(rules []cel.CompilationResult, value interface{}, schema *structuralschema.Structural) []uint64 {
	costs := []uint64{}
	if value == nil {
		return costs
	}
	variables := map[string]interface{}{cel.ScopedVarName: cel.UnstructuredToVal(value, schema)}
	for _, rule := range rules {
		if rule.TransitionRule {
			continue
		}
		_, details, _ := rule.Program.ContextEval(context.Background(), variables)
		cost := *details.ActualCost()
		if cost > cel.PerCallLimit {
			cost = cel.PerCallLimit + 1
		}
		costs = append(costs, cost)
	}
	return costs
}

func objectOf(raw json.RawMessage, structural *structuralschema.Structural) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	check(object.UnmarshalJSON(raw))
	defaulting.Default(object.Object, structural)
	pruning.Prune(object.Object, structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(object.Object, structural)
	return object
}

func causes(errs field.ErrorList) []string {
	found := []string{}
	for _, err := range errs {
		path := strings.TrimPrefix(strings.TrimPrefix(err.Field, schemaPath), ".")
		found = append(found, strings.TrimSpace(fmt.Sprintf("%s %s", reasonOf(err.Type), path)))
		if os.Getenv("MESSAGES") != "" {
			fmt.Fprintln(os.Stderr, err.Field, err.Type, err.Detail)
		}
	}
	sort.Strings(found)
	return found
}

// reasonOf gives the reason of a cause as answers have it.
func reasonOf(kind field.ErrorType) string {
	return string(kind)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
