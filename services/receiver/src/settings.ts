// What a receiver process is told.
import {
  integer,
  OPS_SETTINGS,
  optionalText,
  PEOPLE_SETTINGS,
  permanent,
  PROCESS_SETTINGS,
  text,
  tlsClients,
} from '@baton/runtime'
import type { Settings, SettingsSpec } from '@baton/runtime'
import {
  ALERT_SETTINGS,
  AUDIT_CLIENT_SETTINGS,
  CLASSIFIER_SETTINGS,
  COMPRESSION_SETTINGS,
  FAN_OUT_SETTINGS,
  JUDGING_SETTINGS,
  LARGE_WORK_SETTINGS,
  PLACE_SETTINGS,
  QUEUE_SETTINGS,
  RECOVERY_SETTINGS,
  RETRY_SETTINGS,
  RETURN_SETTINGS,
  SAFETY_SETTINGS,
  SIGNING_SETTINGS,
  STORE_SETTINGS,
  SUMMARISER_SETTINGS,
  SYNC_SETTINGS,
  UNSAFE_POSTGRES_SETTINGS,
  UNSAFE_REDIS_SETTINGS,
} from '@baton/engine/settings'

export const RECEIVER_SETTINGS = {
  ...STORE_SETTINGS,
  ...PLACE_SETTINGS,
  ...COMPRESSION_SETTINGS,
  ...SUMMARISER_SETTINGS,
  ...CLASSIFIER_SETTINGS,
  ...JUDGING_SETTINGS,
  ...QUEUE_SETTINGS,
  ...UNSAFE_POSTGRES_SETTINGS,
  ...UNSAFE_REDIS_SETTINGS,
  ...RECOVERY_SETTINGS,
  ...RETURN_SETTINGS,
  ...RETRY_SETTINGS,
  ...AUDIT_CLIENT_SETTINGS,
  ...ALERT_SETTINGS,
  ...SIGNING_SETTINGS,
  ...FAN_OUT_SETTINGS,
  ...LARGE_WORK_SETTINGS,
  ...SAFETY_SETTINGS,
  ...PROCESS_SETTINGS,
  ...OPS_SETTINGS,
  ...PEOPLE_SETTINGS,
  BATON_AGENTS: optionalText({
    help: 'Module that exports `agents` or `createAgents(environment)`: a path, or a package this process can import. It may be left out where BATON_PUSH_AGENTS is set.',
  }),
  BATON_AGENTS_SETTINGS: optionalText({
    help: 'Names of the variables that the module of BATON_AGENTS gets, comma-separated: as the argument of `createAgents`, and in its environment, from which everything else is gone by then.',
  }),
  BATON_PUSH_AGENTS: optionalText({
    help: 'JSON file of agents that are called over HTTP; infra/protocols/agents.md shows one.',
  }),
  BATON_RECEIVER_PORT: integer({
    min: 0,
    max: 65_535,
    default: 0,
    help: 'The port that takes direct calls, of senders that wait for an outcome; 0 opens none.',
  }),
  BATON_RECEIVER_HOST: text({ default: '127.0.0.1', help: 'The address of that port.' }),
  BATON_TLS_CLIENTS: tlsClients({
    default: 'certified',
    help: 'Who may call that port where it speaks TLS: who has a certificate by BATON_TLS_CA_FILE and the token, or anybody with the token.',
  }),
  BATON_SYNC_TOKEN: SYNC_SETTINGS.BATON_SYNC_TOKEN,
  BATON_CONCURRENCY: integer({
    min: 1,
    max: 1_000,
    default: 32,
    help: 'Most handoffs under way at once for each agent type.',
  }),
}

/**
 * Which variables the agents module gets. Throws BATON_AGENTS_SETTINGS_INVALID where one of them is a secret of the receiver, or
 * an address with a password, or the file of one.
 */
export function readAgentsSettings({
  BATON_AGENTS_SETTINGS: names = '',
}: Settings<typeof RECEIVER_SETTINGS>): readonly string[] {
  const named = names.split(',').flatMap((name) => name.trim() || [])
  const spec: SettingsSpec = RECEIVER_SETTINGS
  const secret = named.find((name) => spec[name.replace(/_FILE$/, '')]?.confidential)
  if (secret === undefined) return named
  throw permanent('BATON_AGENTS_SETTINGS_INVALID', `${secret} is a secret of the receiver itself`, {
    fix: `Take ${secret} out of BATON_AGENTS_SETTINGS: what agents hold, whoever wrote them holds too.`,
  })
}

/** Where direct calls are taken; nothing where none are. Throws BATON_SYNC_TOKEN_MISSING. */
export function readDirect(settings: Settings<typeof RECEIVER_SETTINGS>) {
  const { BATON_RECEIVER_HOST: host, BATON_RECEIVER_PORT: port, BATON_SYNC_TOKEN: token } = settings
  const { BATON_TLS_CLIENTS: clients } = settings
  if (port === 0) return {}
  if (token !== undefined) return { direct: { host, port, token, clients } }
  throw permanent(
    'BATON_SYNC_TOKEN_MISSING',
    'BATON_RECEIVER_PORT takes calls, and nobody could make one',
    {
      fix: 'Set BATON_SYNC_TOKEN, the same for the receiver and for who calls it.',
    },
  )
}
