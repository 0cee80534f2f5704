// What every process is told about its own life; each service's other settings stand beside its main.ts.
import { integer, oneOf, optionalText, optionalUrl, text } from './settings.ts'
import { TLS_SETTINGS, tlsClients } from './tls.ts'

export const PROCESS_SETTINGS = {
  BATON_LOG_LEVEL: oneOf(['debug', 'info', 'warn', 'error', 'silent'], {
    default: 'info',
    help: 'Least severe log line written.',
  }),
  BATON_OTLP_URL: optionalUrl(['http', 'https'], {
    help: 'OTLP/HTTP endpoint for spans, for example http://127.0.0.1:4318/v1/traces.',
  }),
  BATON_DRAIN_MS: integer({
    min: 0,
    max: 600_000,
    default: 25_000,
    help: 'How long a stop waits for work under way, in milliseconds; five seconds later the process ends anyway.',
  }),
  ...TLS_SETTINGS,
}

/** Whose decisions count, in processes that check or record what people decide. */
export const PEOPLE_SETTINGS = {
  BATON_PEOPLE: optionalText({
    help: 'Whose decisions count: person:role+role:publicKey, comma-separated, as `baton people` makes them; the roles are reviewer and compliance. Without it nobody can approve, release, discard or hold here.',
  }),
}

/** Whose access tokens are taken, in processes that people and services call. */
export const ISSUER_SETTINGS = {
  BATON_ISSUERS: optionalText({
    help: 'JSON file of the issuers whose access tokens (OAuth 2, OpenID Connect) are taken, read at the start; without it none are.',
  }),
}

/** Where the server for an operator's tools listens, in processes that have one. */
export const OPS_SETTINGS = {
  BATON_OPS_HOST: text({
    default: '127.0.0.1',
    help: 'Where /metrics, /healthz and /readyz listen.',
  }),
  BATON_OPS_PORT: integer({
    min: 0,
    max: 65_535,
    default: 0,
    help: 'Port of /metrics, /healthz and /readyz; 0 picks a free one and logs it.',
  }),
  BATON_OPS_TLS_CLIENTS: tlsClients({
    default: 'certified',
    help: 'Who may read /metrics there where it speaks TLS: who has a certificate by BATON_TLS_CA_FILE, or anybody; /healthz and /readyz answer everybody, as probes have none.',
  }),
}
