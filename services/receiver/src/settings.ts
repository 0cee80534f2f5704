// What a receiver process is told.
import { integer, OPS_SETTINGS, optionalText, PROCESS_SETTINGS } from '@baton/runtime'
import {
  ALERT_SETTINGS,
  AUDIT_CLIENT_SETTINGS,
  QUEUE_SETTINGS,
  RECOVERY_SETTINGS,
  RETRY_SETTINGS,
  RETURN_SETTINGS,
  SIGNING_SETTINGS,
  STORE_SETTINGS,
  UNSAFE_POSTGRES_SETTINGS,
  UNSAFE_REDIS_SETTINGS,
} from '@baton/engine'

export const RECEIVER_SETTINGS = {
  ...STORE_SETTINGS,
  ...QUEUE_SETTINGS,
  ...UNSAFE_POSTGRES_SETTINGS,
  ...UNSAFE_REDIS_SETTINGS,
  ...RECOVERY_SETTINGS,
  ...RETURN_SETTINGS,
  ...RETRY_SETTINGS,
  ...AUDIT_CLIENT_SETTINGS,
  ...ALERT_SETTINGS,
  ...SIGNING_SETTINGS,
  ...PROCESS_SETTINGS,
  ...OPS_SETTINGS,
  BATON_AGENTS: optionalText({
    help: 'Module that exports `agents` or `createAgents(environment)`: a path, or a package this process can import. It may be left out where BATON_PUSH_AGENTS is set.',
  }),
  BATON_PUSH_AGENTS: optionalText({
    help: 'JSON file of agents that are called over HTTP; infra/protocols/agents.md shows one.',
  }),
  BATON_CONCURRENCY: integer({
    min: 1,
    max: 1_000,
    default: 32,
    help: 'Most handoffs under way at once for each agent type.',
  }),
}
