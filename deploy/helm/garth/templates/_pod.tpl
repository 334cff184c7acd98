{{- /* The pod of the Deployment and of the StatefulSet. */ -}}
{{- define "garth.pod" -}}
metadata:
  labels:
    {{- include "garth.labels" . | nindent 4 }}
  annotations:
    # Changed settings restart the pods.
    checksum/settings: {{ .Values.settings | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "garth.name" . }}
  automountServiceAccountToken: false
  # Running requests get 20 seconds.
  terminationGracePeriodSeconds: 40
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: garth
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: ["serve", "--config", "/etc/garth/garth.toml"]
      env:
        {{- include "garth.env" . | nindent 8 }}
      ports:
        - { name: http, containerPort: 8080 }
        - { name: metrics, containerPort: 9090 }
      # A start applies migrations, which can take a while on a large store.
      startupProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 5
        failureThreshold: 60
      livenessProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 10
        timeoutSeconds: 3
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: http }
        periodSeconds: 5
        timeoutSeconds: 3
        failureThreshold: 2
      lifecycle:
        # The endpoints of the Service change while the pod still serves requests.
        preStop: { exec: { command: ["sleep", "5"] } }
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /var/lib/garth }
        - { name: tmp, mountPath: /tmp }
        - { name: settings, mountPath: /etc/garth, readOnly: true }
        {{- if include "garth.secrets" . }}
        - { name: secrets, mountPath: /run/secrets/garth, readOnly: true }
        {{- end }}
  volumes:
    - { name: tmp, emptyDir: {} }
    - { name: settings, configMap: { name: {{ include "garth.name" . }} } }
    {{- with include "garth.secrets" . }}
    - name: secrets
      projected:
        # Readable for the group of fsGroup.
        defaultMode: 0440
        sources:
          {{- . | nindent 10 }}
    {{- end }}
    {{- if eq .Values.store "postgres" }}
    # Uploads in progress.
    - { name: data, emptyDir: {} }
    {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if eq .Values.store "postgres" }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "garth.selector" . | nindent 10 }}
  {{- end }}
{{- end }}

{{- define "garth.env" -}}
- { name: GARTH_LISTEN, value: "0.0.0.0:8080" }
- { name: GARTH_METRICS_LISTEN, value: "0.0.0.0:9090" }
# A folder on the volume, because Garth refuses a folder that its group can write to, and fsGroup makes the volume so.
- { name: GARTH_DATA, value: /var/lib/garth/data }
- { name: GARTH_LOG_FORMAT, value: json }
{{- with .Values.publicUrl }}
- { name: GARTH_PUBLIC_URL, value: {{ . | quote }} }
{{- end }}
{{- with .Values.trustedProxies }}
- { name: GARTH_TRUSTED_PROXIES, value: {{ join "," . | quote }} }
{{- end }}
{{- if .Values.bootstrapTokenSecret.name }}
- { name: GARTH_BOOTSTRAP_TOKEN_FILE, value: /run/secrets/garth/bootstrap-token }
{{- end }}
{{- if eq .Values.store "postgres" }}
- { name: GARTH_DATABASE, value: {{ .Values.postgres.url | quote }} }
- { name: GARTH_DATABASE_CONNECTIONS, value: {{ .Values.postgres.connections | quote }} }
{{- if .Values.postgres.passwordSecret.name }}
- { name: GARTH_DATABASE_PASSWORD_FILE, value: /run/secrets/garth/database-password }
{{- end }}
{{- end }}
{{- with .Values.attachments }}
{{- if .url }}
- { name: GARTH_ATTACHMENTS_URL, value: {{ .url | quote }} }
- { name: AWS_REGION, value: {{ .region | quote }} }
{{- end }}
{{- if .keysSecret.name }}
- { name: GARTH_ATTACHMENTS_ACCESS_KEY_FILE, value: /run/secrets/garth/s3-access-key }
- { name: GARTH_ATTACHMENTS_SECRET_KEY_FILE, value: /run/secrets/garth/s3-secret-key }
{{- end }}
{{- if .endpoint }}
- { name: AWS_ENDPOINT, value: {{ .endpoint | quote }} }
{{- if hasPrefix "http://" .endpoint }}
- { name: AWS_ALLOW_HTTP, value: "true" }
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "garth.secrets" -}}
{{- if .Values.bootstrapTokenSecret.name }}
- secret:
    name: {{ .Values.bootstrapTokenSecret.name }}
    items: [{ key: {{ .Values.bootstrapTokenSecret.key }}, path: bootstrap-token }]
{{- end }}
{{- if and (eq .Values.store "postgres") .Values.postgres.passwordSecret.name }}
- secret:
    name: {{ .Values.postgres.passwordSecret.name }}
    items: [{ key: {{ .Values.postgres.passwordSecret.key }}, path: database-password }]
{{- end }}
{{- with .Values.attachments.keysSecret }}
{{- if .name }}
- secret:
    name: {{ .name }}
    items:
      - { key: {{ .accessKey }}, path: s3-access-key }
      - { key: {{ .secretKey }}, path: s3-secret-key }
{{- end }}
{{- end }}
{{- end }}
