{{/* Names and labels. Every object of a release is found by its instance, every process by its component. */}}
{{- define "baton.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "baton.instance" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{/* Of one process: (dict "root" $ "component" "relay"). */}}
{{- define "baton.selector" -}}
{{ include "baton.instance" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "baton.labels" -}}
{{ include "baton.selector" . }}
app.kubernetes.io/part-of: baton
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | quote }}
{{- end }}

{{/* Of one process, whose values may name another: (dict "root" $ "values" .Values.relay). */}}
{{- define "baton.image" -}}
{{- $image := merge (dict) (default dict .values.image) .root.Values.image -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ default .root.Chart.AppVersion $image.tag }}
{{- end -}}
{{- end }}

{{/* The Secret with the settings of one process and of no other: (dict "root" $ "process" "relay" "values" …). */}}
{{- define "baton.secret" -}}
{{- default (printf "%s-%s" (include "baton.fullname" .root) .process) .values.secret -}}
{{- end }}

{{- define "baton.tlsSecret" -}}
{{- default (printf "%s-%s-tls" (include "baton.fullname" .root) .process) .values.tlsSecret -}}
{{- end }}

{{- define "baton.isTls" -}}
{{- if ne .Values.tls.mode "none" }}yes{{ end -}}
{{- end }}

{{- define "baton.scheme" -}}
{{- if include "baton.isTls" . }}https{{ else }}http{{ end -}}
{{- end }}

{{/* Every process with a deployment: name, whose settings it has, its values. As JSON, because templates answer text. */}}
{{- define "baton.processes" -}}
{{- $found := list
  (dict "component" "gateway" "process" "gateway" "values" .Values.gateway)
  (dict "component" "auditor" "process" "auditor" "values" .Values.auditor)
  (dict "component" "sealer" "process" "sealer" "values" .Values.sealer) -}}
{{- range $process := list "relay" "witness" -}}
{{- $values := get $.Values $process -}}
{{- if $values.enabled -}}
{{- $found = append $found (dict "component" $process "process" $process "values" $values) -}}
{{- end -}}
{{- end -}}
{{- if or .Values.cold.bucket .Values.cold.claim .Values.cold.size -}}
{{- $found = append $found (dict "component" "archiver" "process" "archiver" "values" .Values.archiver) -}}
{{- end -}}
{{- range $name, $own := .Values.receivers -}}
{{- $values := merge (dict) (default dict $own) $.Values.receiverDefaults -}}
{{- $found = append $found (dict "component" (printf "receiver-%s" $name) "process" "receiver" "values" $values) -}}
{{- end -}}
{{- $found | toJson -}}
{{- end }}
