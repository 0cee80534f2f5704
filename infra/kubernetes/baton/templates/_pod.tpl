{{/*
One pod of a process, as the security profile `restricted` wants it. Takes
  root, component, process (whose Secret it mounts), values, args (after `node`), env (name: value), ports (name: number),
  opsPort (true where it has one), hasState and cold (folders on volumes), blank (settings of the file that are of another machine), spread, restart.
*/}}
{{- define "baton.pod" -}}
{{- $root := .root -}}
{{- $values := .values -}}
{{- $folder := printf "%s/%s" $root.Values.secrets.folder .process -}}
{{- $isTls := include "baton.isTls" $root -}}
{{- $drain := default $root.Values.drainSeconds $values.drainSeconds -}}
{{- $env := dict "BATON_LOG_LEVEL" $root.Values.logLevel "BATON_DRAIN_MS" (mul $drain 1000) "HOME" "/tmp" -}}
{{- if $isTls -}}
{{- $_ := set $env "BATON_TLS_CERT_FILE" "/etc/baton-tls/tls.crt" -}}
{{- $_ := set $env "BATON_TLS_KEY_FILE" "/etc/baton-tls/tls.key" -}}
{{- $_ := set $env "BATON_TLS_CA_FILE" "/etc/baton-tls/ca.crt" -}}
{{- else -}}
{{- $_ := set $env "BATON_ALLOW_PLAINTEXT" "1" -}}
{{- end -}}
{{- if .opsPort -}}
{{- $_ := set $env "BATON_OPS_HOST" $root.Values.listenAddress -}}
{{- $_ := set $env "BATON_OPS_PORT" 8480 -}}
{{- if $isTls -}}
{{- $_ := set $env "BATON_OPS_TLS_CLIENTS" $root.Values.monitoring.clients -}}
{{- end -}}
{{- end -}}
{{- /* What `baton init` said for the machine that it ran on; an empty setting is none. */ -}}
{{- range $name := .blank -}}
{{- $_ := set $env $name "" -}}
{{- end -}}
{{- $env = merge (dict) (default dict $values.settings) $root.Values.settings (default dict .env) $env -}}
metadata:
  labels:
    {{- include "baton.labels" (dict "root" $root "component" .component) | nindent 4 }}
    {{- with $values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "baton.fullname" $root }}-{{ .component }}
  # Baton never calls Kubernetes. Workload identity brings a token of its own.
  automountServiceAccountToken: false
  # Kubernetes would make BATON_GATEWAY_PORT=tcp://… of a service that is called baton-gateway, which is no port.
  enableServiceLinks: false
  {{- with .restart }}
  restartPolicy: {{ . }}
  {{- end }}
  # The drain, the five seconds after it in which leases are released, five before it and ten to spare.
  terminationGracePeriodSeconds: {{ add $drain 20 }}
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if .spread }}
  topologySpreadConstraints:
    {{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ $key }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "baton.selector" (dict "root" $root "component" $.component) | nindent 10 }}
    {{- end }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: {{ $root.Values.user }}
    runAsGroup: {{ $root.Values.user }}
    fsGroup: {{ $root.Values.user }}
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  containers:
    - name: {{ .process }}
      image: {{ include "baton.image" (dict "root" $root "values" $values) | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      # What stands in the environment below counts more than what stands in the file.
      command: [node, --env-file={{ $folder }}/settings.env]
      args:
        {{- toYaml .args | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      env:
        {{- range $name, $value := $env }}
        - name: {{ $name }}
          value: {{ toString $value | quote }}
        {{- end }}
        {{- range $name, $from := $values.files }}
        - name: {{ $name }}_FILE
          value: /etc/baton-files/{{ $name }}
        {{- end }}
      {{- $ports := default dict .ports -}}
      {{- if .opsPort -}}
      {{- $ports = merge (dict "ops" 8480) $ports -}}
      {{- end }}
      {{- if $ports }}
      ports:
        {{- range $name, $port := $ports }}
        - name: {{ $name }}
          containerPort: {{ $port }}
          protocol: TCP
        {{- end }}
      {{- end }}
      {{- if .opsPort }}
      # Started: it answers at all. Three minutes, because a first start may wait for a database that is being restored.
      startupProbe:
        httpGet: { path: /healthz, port: ops, scheme: {{ include "baton.scheme" $root | upper }} }
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 90
      # May be given work: its database answers, and no drain has begun. A database that is away takes it out of the service and never restarts it.
      readinessProbe:
        httpGet: { path: /readyz, port: ops, scheme: {{ include "baton.scheme" $root | upper }} }
        periodSeconds: 5
        timeoutSeconds: 3
        failureThreshold: 2
      # Lives: its event loop answers, whatever else is away. A minute of silence is no pause of the collector.
      livenessProbe:
        httpGet: { path: /healthz, port: ops, scheme: {{ include "baton.scheme" $root | upper }} }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      {{- else if eq .process "witness" }}
      # It asks callers for a certificate and has no port for probes: that it listens is what can be asked.
      startupProbe:
        tcpSocket: { port: witness }
        periodSeconds: 2
        failureThreshold: 30
      readinessProbe:
        tcpSocket: { port: witness }
        periodSeconds: 5
      livenessProbe:
        tcpSocket: { port: witness }
        periodSeconds: 10
        failureThreshold: 6
      {{- end }}
      {{- if .ports }}
      # Endpoints are told of an end as late as the process itself: until they know, it goes on to answer.
      lifecycle:
        preStop:
          sleep: { seconds: 5 }
      {{- end }}
      resources:
        {{- toYaml $values.resources | nindent 8 }}
      volumeMounts:
        - { name: settings, mountPath: {{ $folder }}, readOnly: true }
        - { name: tmp, mountPath: /tmp }
        {{- if $isTls }}
        - { name: tls, mountPath: /etc/baton-tls, readOnly: true }
        {{- end }}
        {{- if $values.files }}
        - { name: files, mountPath: /etc/baton-files, readOnly: true }
        {{- end }}
        {{- if .hasState }}
        - { name: state, mountPath: /var/lib/baton }
        {{- end }}
        {{- if and .cold (or $root.Values.cold.claim $root.Values.cold.size) }}
        - { name: cold, mountPath: /var/lib/baton-cold }
        {{- end }}
        {{- with $values.volumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  # 288 is 0440: the group of fsGroup may read, nobody else; Baton takes no secret from a file that is more open.
  volumes:
    - name: settings
      secret:
        secretName: {{ include "baton.secret" (dict "root" $root "process" .process "values" $values) }}
        defaultMode: 288
    - name: tmp
      emptyDir: { sizeLimit: 256Mi }
    {{- if $isTls }}
    - name: tls
      secret:
        secretName: {{ include "baton.tlsSecret" (dict "root" $root "process" .process "values" $values) }}
        defaultMode: 288
    {{- end }}
    {{- if $values.files }}
    - name: files
      projected:
        defaultMode: 288
        sources:
          {{- range $name, $from := $values.files }}
          - secret:
              name: {{ $from.secret }}
              items: [{ key: {{ $from.key | quote }}, path: {{ $name }} }]
          {{- end }}
    {{- end }}
    {{- if and .cold (or $root.Values.cold.claim $root.Values.cold.size) }}
    - name: cold
      persistentVolumeClaim: { claimName: {{ default (printf "%s-cold" (include "baton.fullname" $root)) $root.Values.cold.claim }} }
    {{- end }}
    {{- with $values.volumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}

{{/* Settings of the cold store, for those who read or write it. */}}
{{- define "baton.coldEnv" -}}
{{- with .Values.cold }}
{{- if .bucket }}
BATON_COLD_FOLDER: ''
BATON_COLD_S3_BUCKET: {{ .bucket | quote }}
{{- with .region }}
BATON_COLD_S3_REGION: {{ . | quote }}
{{- end }}
{{- with .endpoint }}
BATON_COLD_S3_ENDPOINT: {{ . | quote }}
{{- end }}
{{- with .lockDays }}
BATON_COLD_S3_LOCK_DAYS: {{ . | quote }}
{{- end }}
{{- else if or .claim .size }}
BATON_COLD_FOLDER: /var/lib/baton-cold
{{- else }}
BATON_COLD_FOLDER: ''
{{- end }}
{{- end }}
{{- end }}
