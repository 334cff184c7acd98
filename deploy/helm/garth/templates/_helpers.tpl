{{- define "garth.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end -}}
{{- end }}

{{- define "garth.selector" -}}
app.kubernetes.io/name: garth
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "garth.labels" -}}
{{ include "garth.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- /* Refuses values that would give a server without a store, or with files that only one pod has. */ -}}
{{- define "garth.validate" -}}
{{- if not (has .Values.store (list "sqlite" "postgres")) }}
{{- fail (printf "store must be sqlite or postgres, not %q" .Values.store) }}
{{- end }}
{{- if eq .Values.store "postgres" }}
{{- if not .Values.postgres.url }}
{{- fail "store: postgres needs postgres.url, such as postgres://garth@database:5432/garth" }}
{{- end }}
{{- if not (hasPrefix "s3://" .Values.attachments.url) }}
{{- fail "store: postgres needs attachments.url with a bucket, such as s3://garth/attachments" }}
{{- end }}
{{- end }}
{{- if regexMatch "://[^/@]*:[^/@]*@" .Values.postgres.url }}
{{- fail "postgres.url has a password; put it into a Secret and name it with postgres.passwordSecret" }}
{{- end }}
{{- end }}
