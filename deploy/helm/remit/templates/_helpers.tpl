{{- define "remit.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "remit.labels" -}}
app.kubernetes.io/name: remit
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* The environment of the servers and of the job, but for the role of the database. */}}
{{- define "remit.environment" -}}
- configMapRef:
    name: {{ .Release.Name }}-settings
- secretRef:
    name: {{ .Values.existingSecrets.license }}
{{- end }}

{{/* What both pods have in common. */}}
{{- define "remit.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{- define "remit.containerSecurity" -}}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities:
  drop: [ALL]
{{- end }}
