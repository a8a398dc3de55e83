// Prints the verdicts of the reference's own packages on CEL expressions and on custom resource definitions; see ../record.ts.
//
// Reads a JSON object with "expressions" and "definitions" from standard input and writes their verdicts by name to standard output.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
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
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

type input struct {
	Expressions []expression `json:"expressions"`
	Definitions []definition `json:"definitions"`
}

// An expression without variables, for the environment of a release or for "stored" expressions.
type expression struct {
	Name        string `json:"name"`
	Expression  string `json:"expression"`
	Environment string `json:"environment"`
}

// Error is that of the compilation; Fault that of the evaluation.
type result struct {
	Error    string  `json:"error,omitempty"`
	Fault    string  `json:"fault,omitempty"`
	Type     string  `json:"type,omitempty"`
	Value    string  `json:"value,omitempty"`
	Cost     *uint64 `json:"cost,omitempty"`
	Estimate string  `json:"estimate,omitempty"`
}

// The schema of a definition, and objects of its kind, created or as updates of an old one.
type definition struct {
	Name    string                          `json:"name"`
	Schema  apiextensionsv1.JSONSchemaProps `json:"schema"`
	Objects []json.RawMessage               `json:"objects"`
	Old     json.RawMessage                 `json:"old"`
}

// Reasons and fields of the causes of definition and objects; estimates and costs of the rules of the spec.
type verdict struct {
	Definition []string   `json:"definition"`
	Estimates  []string   `json:"estimates,omitempty"`
	Objects    [][]string `json:"objects,omitempty"`
	Costs      [][]uint64 `json:"costs,omitempty"`
}

var (
	scheme = runtime.NewScheme()
	kind   = schema.GroupVersionKind{Group: "cel.example.com", Version: "v1", Kind: "Case"}
)

const schemaPath = "spec.validation.openAPIV3Schema"

func main() {
	install.Install(scheme)
	var in input
	check(json.NewDecoder(os.Stdin).Decode(&in))
	results := map[string]result{}
	for _, one := range in.Expressions {
		results[one.Name] = resultOf(one)
	}
	verdicts := map[string]verdict{}
	for _, one := range in.Definitions {
		verdicts[one.Name] = verdictOf(one)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(map[string]any{"expressions": results, "definitions": verdicts}))
}

func environmentOf(name string) *cel.Env {
	if name == "stored" {
		return environment.MustBaseEnvSet(version.MajorMinor(1, 36)).StoredExpressionsEnv()
	}
	return environment.MustBaseEnvSet(version.MustParse(name)).NewExpressionsEnv()
}

type noSizes struct{}

func (noSizes) EstimateSize(checker.AstNode) *checker.SizeEstimate { return nil }
func (noSizes) EstimateCallCost(_, _ string, _ *checker.AstNode, _ []checker.AstNode) *checker.CallEstimate {
	return nil
}

func resultOf(one expression) (found result) {
	defer func() {
		if failed := recover(); failed != nil {
			found.Error = fmt.Sprint("panic: ", failed)
		}
	}()
	env := environmentOf(one.Environment)
	ast, issues := env.Compile(one.Expression)
	if issues != nil && issues.Err() != nil {
		messages := []string{}
		for _, issue := range issues.Errors() {
			messages = append(messages, fmt.Sprintf("%d:%d: %s", issue.Location.Line(), issue.Location.Column()+1, issue.Message))
		}
		found.Error = strings.Join(messages, "; ")
		return found
	}
	found.Type = ast.OutputType().String()
	estimator := &library.CostEstimator{SizeEstimator: noSizes{}}
	estimate, err := env.EstimateCost(ast, estimator)
	check(err)
	found.Estimate = fmt.Sprint(estimate.Min, " ", estimate.Max)
	program, err := env.Program(ast, cel.CostTracking(estimator), cel.CostLimit(celconfig.PerCallLimit))
	if err != nil {
		found.Error = "program: " + err.Error()
		return found
	}
	value, details, err := program.Eval(map[string]any{})
	if details != nil && details.ActualCost() != nil {
		cost := *details.ActualCost()
		if cost > celconfig.PerCallLimit {
			cost = celconfig.PerCallLimit + 1
		}
		found.Cost = &cost
	}
	if err != nil {
		found.Fault = err.Error()
		return found
	}
	found.Value = textOf(value)
	return found
}

// textOf writes a value in a form that is the same for equal values.
func textOf(value ref.Val) string {
	switch v := value.(type) {
	case types.String:
		text, _ := json.Marshal(string(v))
		return string(text)
	case types.Bytes:
		return fmt.Sprintf("b%x", []byte(v))
	case types.Int:
		return fmt.Sprint(int64(v))
	case types.Uint:
		return fmt.Sprintf("%du", uint64(v))
	case types.Double:
		if float64(v) == math.Trunc(float64(v)) && math.Abs(float64(v)) < 1e15 {
			return fmt.Sprintf("%.1f", float64(v))
		}
		text, err := json.Marshal(float64(v))
		if err != nil {
			return fmt.Sprint(float64(v))
		}
		return string(text)
	case types.Bool:
		return fmt.Sprint(bool(v))
	case types.Null:
		return "null"
	case *types.Optional:
		if !v.HasValue() {
			return "none"
		}
		return "optional(" + textOf(v.GetValue()) + ")"
	case apiservercel.Quantity:
		return "quantity(" + v.String() + ")"
	case *apiservercel.Quantity:
		return "quantity(" + v.String() + ")"
	case apiservercel.IP:
		return "ip(" + v.String() + ")"
	case apiservercel.CIDR:
		return "cidr(" + v.String() + ")"
	case apiservercel.Semver:
		return "semver(" + v.String() + ")"
	case apiservercel.Format:
		return "format(" + v.Name + ")"
	case *types.Type:
		return "type(" + v.TypeName() + ")"
	case traits.Lister:
		items := []string{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			items = append(items, textOf(it.Next()))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case traits.Mapper:
		entries := []string{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			entries = append(entries, textOf(key)+": "+textOf(v.Get(key)))
		}
		sort.Strings(entries)
		return "{" + strings.Join(entries, ", ") + "}"
	default:
		return fmt.Sprintf("%s %v", value.Type().TypeName(), value.Value())
	}
}

func verdictOf(one definition) verdict {
	crd := &apiextensionsv1.CustomResourceDefinition{
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
	scheme.Default(crd)
	internal := &apiextensions.CustomResourceDefinition{}
	check(scheme.Convert(crd, internal, nil))
	internal.Status.StoredVersions = []string{kind.Version}
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
	validator, _, err := objectvalidation.NewSchemaValidator(internalSchema.OpenAPIV3Schema)
	check(err)
	strategy := customresource.NewStrategy(scheme, false, kind, validator, nil, structural, nil, nil, nil)
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

func rulesOf(schema *structuralschema.Structural) []schemacel.CompilationResult {
	declared := model.SchemaDeclType(schema, schema.XEmbeddedResource)
	if declared == nil {
		return nil
	}
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	rules, err := schemacel.Compile(schema, declared, celconfig.PerCallLimit, base, schemacel.StoredExpressionsEnvLoader())
	check(err)
	return rules
}

func costsOf(rules []schemacel.CompilationResult, value interface{}, schema *structuralschema.Structural) []uint64 {
	costs := []uint64{}
	if value == nil {
		return costs
	}
	variables := map[string]interface{}{schemacel.ScopedVarName: schemacel.UnstructuredToVal(value, schema)}
	for _, rule := range rules {
		if rule.UsesOldSelf {
			continue
		}
		_, details, _ := rule.Program.ContextEval(context.Background(), variables)
		cost := *details.ActualCost()
		if cost > celconfig.PerCallLimit {
			cost = celconfig.PerCallLimit + 1
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
		text := strings.TrimSpace(fmt.Sprintf("%s %s", string(err.Type), path))
		if os.Getenv("MESSAGES") != "" {
			text += ": " + err.Detail
		}
		found = append(found, text)
	}
	sort.Strings(found)
	return found
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
