{{/* The labels of every object. Helm adds what it needs to know its own at the cluster. */}}
{{- define "olmguard.labels" -}}
app.kubernetes.io/name: olmguard
app.kubernetes.io/part-of: olmguard
{{- end }}

{{/* The pods. */}}
{{- define "olmguard.selector" -}}
app.kubernetes.io/name: olmguard
{{- end }}

{{/* To whom roles are given. */}}
{{- define "olmguard.subjects" -}}
- kind: ServiceAccount
  name: olmguard
  namespace: {{ .Release.Namespace }}
{{- end }}

{{/* "true" where OLM is as OpenShift has it, else empty. */}}
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

{{/* "true" in the profile hardened and in enforcing, which has everything of it; otherwise empty. */}}
{{- define "olmguard.hardened" -}}
{{- ternary "true" "" (has .Values.profile (list "hardened" "enforcing")) -}}
{{- end }}

{{/* "true" if only operator-controller can write the status; otherwise empty. */}}
{{- define "olmguard.status-policy" -}}
{{- if kindIs "bool" .Values.statusPolicy.enabled -}}
{{- ternary "true" "" .Values.statusPolicy.enabled -}}
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

{{/* What is set whatever the values say, unless `settings` sets it: flags in a fixed order. */}}
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
{{- end }}

{{/* Flags in their form for the environment. */}}
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

{{/* `list FLAG VALUE`. Helm reads numbers as floats; the schema lets whole ones through only. */}}
{{- define "olmguard.variable" -}}
{{- $value := index . 1 -}}
- name: OLMGUARD_{{ index . 0 | upper | replace "-" "_" }}
  value: {{ ternary (int64 $value) $value (kindIs "float64" $value) | toString | quote }}
{{- end }}

{{/* Over the nodes or zones of this key; `list KEY WHAT-IF-NOT`. */}}
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
