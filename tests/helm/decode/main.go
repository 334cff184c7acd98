// Command decode reads Kubernetes objects as YAML from standard input, and decodes each into its Go type. It fails on
// unknown fields and wrong types. Objects of the Prometheus operator are only counted.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

func objectOf(kind metav1.TypeMeta) (any, error) {
	switch kind.APIVersion + " " + kind.Kind {
	case "apps/v1 Deployment":
		return new(appsv1.Deployment), nil
	case "apps/v1 StatefulSet":
		return new(appsv1.StatefulSet), nil
	case "v1 ConfigMap":
		return new(corev1.ConfigMap), nil
	case "v1 Service":
		return new(corev1.Service), nil
	case "v1 ServiceAccount":
		return new(corev1.ServiceAccount), nil
	case "networking.k8s.io/v1 Ingress":
		return new(networkingv1.Ingress), nil
	case "networking.k8s.io/v1 NetworkPolicy":
		return new(networkingv1.NetworkPolicy), nil
	case "policy/v1 PodDisruptionBudget":
		return new(policyv1.PodDisruptionBudget), nil
	case "monitoring.coreos.com/v1 ServiceMonitor", "monitoring.coreos.com/v1 PrometheusRule":
		return new(map[string]any), nil
	}
	return nil, fmt.Errorf("there is no type for %s %s", kind.APIVersion, kind.Kind)
}

func decode(text []byte) error {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(text, &kind); err != nil {
		return err
	}
	object, err := objectOf(kind)
	if err != nil {
		return err
	}
	if err := yaml.UnmarshalStrict(text, object); err != nil {
		return fmt.Errorf("%s: %w", kind.Kind, err)
	}
	return nil
}

func main() {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(os.Stdin))
	for {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = decode(text)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
