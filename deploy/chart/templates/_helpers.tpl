{{/* The labels of every object. Helm adds its own labels and annotations in the cluster. */}}
{{- define "olmguard.labels" -}}
app.kubernetes.io/name: olmguard
app.kubernetes.io/part-of: olmguard
{{- end }}

{{/* The labels that select the pods. */}}
{{- define "olmguard.selector" -}}
app.kubernetes.io/name: olmguard
{{- end }}

{{/* The subjects of every role binding. */}}
{{- define "olmguard.subjects" -}}
- kind: ServiceAccount
  name: olmguard
  namespace: {{ .Release.Namespace }}
{{- end }}

{{/* "true" if OLM runs as on OpenShift; otherwise empty. */}}
{{- define "olmguard.openshift" -}}
{{- if kindIs "bool" .Values.openshift -}}
{{- ternary "true" "" .Values.openshift -}}
{{- else -}}
{{- ternary "true" "" (eq .Values.certificates.mode "service-ca") -}}
{{- end -}}
{{- end }}

{{/* The namespace of operator-controller. */}}
{{- define "olmguard.olm-namespace" -}}
{{- $usual := ternary "openshift-operator-controller" "olmv1-system" (eq (include "olmguard.openshift" .) "true") -}}
{{- get .Values.settings "olm-namespace" | default $usual -}}
{{- end }}

{{/* The namespace of catalogd. */}}
{{- define "olmguard.catalogd-namespace" -}}
{{- if include "olmguard.openshift" . -}}
openshift-catalogd
{{- else -}}
{{- include "olmguard.olm-namespace" . -}}
{{- end -}}
{{- end }}

{{/* "true" in the profiles hardened and enforcing, because enforcing includes hardened; otherwise empty. */}}
{{- define "olmguard.hardened" -}}
{{- ternary "true" "" (has .Values.profile (list "hardened" "enforcing")) -}}
{{- end }}

{{/* "true" if only operator-controller can write the status of ClusterExtensions; otherwise empty. */}}
{{- define "olmguard.status-policy" -}}
{{- if kindIs "bool" .Values.statusPolicy.enabled -}}
{{- ternary "true" "" .Values.statusPolicy.enabled -}}
{{- else -}}
{{- ternary "true" "" (eq .Values.profile "enforcing") -}}
{{- end -}}
{{- end }}

{{/* "true" if the API server asks for the verb bypass; otherwise empty. */}}
{{- define "olmguard.bypass-policy" -}}
{{- if kindIs "bool" .Values.bypassPolicy.enabled -}}
{{- ternary "true" "" .Values.bypassPolicy.enabled -}}
{{- else -}}
{{- ternary "true" "" (eq .Values.profile "enforcing") -}}
{{- end -}}
{{- end }}

{{- define "olmguard.replicas" -}}
{{- .Values.replicas | default (get (dict "default" 2 "hardened" 3 "enforcing" 3 "single-node" 1) .Values.profile) -}}
{{- end }}

{{- define "olmguard.failure-policy" -}}
{{- .Values.failurePolicy | default (ternary "Fail" "Ignore" (eq (include "olmguard.hardened" .) "true")) -}}
{{- end }}

{{- define "olmguard.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Flags that the chart sets, in a fixed order. `settings` takes precedence. */}}
{{- define "olmguard.own-settings" -}}
- [cache-dir, /var/cache/olmguard]
- [catalogd-ca, /etc/olmguard/catalogd-ca]
- [olm-namespace, {{ include "olmguard.olm-namespace" . }}]
- [tls-server-name, olmguard.{{ .Release.Namespace }}.svc]
{{- if eq .Values.profile "enforcing" }}
- [on-undecided, deny]
{{- end }}
{{- if eq .Values.certificates.mode "self-managed" }}
- [certs, self-managed]
{{- else }}
- [certs, files]
- [tls-cert, /etc/olmguard/tls/tls.crt]
- [tls-key, /etc/olmguard/tls/tls.key]
{{- end }}
{{- if .Values.metrics.secure }}
- [metrics-listen, "[::]:8443"]
{{- end }}
{{- if .Values.guardrails }}
- [guardrails, /etc/olmguard/guardrails/guardrails.yaml]
{{- end }}
{{- end }}

{{/* All flags, as environment variables. */}}
{{- define "olmguard.env" -}}
{{- $left := deepCopy .Values.settings -}}
{{- range include "olmguard.own-settings" . | fromYamlArray -}}
{{- $flag := index . 0 -}}
{{- include "olmguard.variable" (list $flag (ternary (get $left $flag) (index . 1) (hasKey $left $flag))) }}
{{ $_ := unset $left $flag -}}
{{- end -}}
{{- range $flag, $value := $left -}}
{{- include "olmguard.variable" (list $flag $value) }}
{{ end -}}
{{- end }}

{{/* `list FLAG VALUE`. Helm reads numbers as floats; the schema allows whole numbers only. */}}
{{- define "olmguard.variable" -}}
{{- $value := index . 1 -}}
- name: OLMGUARD_{{ index . 0 | upper | replace "-" "_" }}
  value: {{ ternary (int64 $value) $value (kindIs "float64" $value) | toString | quote }}
{{- end }}

{{/* Spread the pods over the nodes or zones of a key; `list KEY WHEN-UNSATISFIABLE`. */}}
{{- define "olmguard.spread" -}}
- topologyKey: {{ index . 0 }}
  maxSkew: 1
  whenUnsatisfiable: {{ index . 1 }}
  nodeTaintsPolicy: Honor
  labelSelector:
    matchLabels:
      {{- include "olmguard.selector" . | nindent 6 }}
  matchLabelKeys: [pod-template-hash]
{{- end }}

{{/* The labels of monitoring objects; `list ROOT MORE-LABELS`. */}}
{{- define "olmguard.monitoring-labels" -}}
app.kubernetes.io/component: monitoring
{{ include "olmguard.labels" (index . 0) }}
{{- with index . 1 }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The object with the CA certificate by which Prometheus trusts the webhook's certificate. */}}
{{- define "olmguard.metrics-ca" -}}
{{- if .Values.metrics.serviceMonitor.ca -}}
{{ toYaml .Values.metrics.serviceMonitor.ca }}
{{- else if eq .Values.certificates.mode "cert-manager" -}}
secret:
  name: olmguard-tls
  key: ca.crt
{{- else if eq .Values.certificates.mode "service-ca" -}}
configMap:
  name: openshift-service-ca.crt
  key: service-ca.crt
{{- else -}}
{{- fail "metrics.serviceMonitor.ca is empty: set it to the object with the CA certificate of the webhook, because certificate mode self-managed creates no such object" -}}
{{- end -}}
{{- end }}
