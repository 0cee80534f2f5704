// What a receiver process is told.
import { integer, oneOf, OPS_SETTINGS, PROCESS_SETTINGS, text } from '@baton/runtime'
import {
  AUDIT_CLIENT_SETTINGS,
  BLOCKED_POLICIES,
  QUEUE_SETTINGS,
  RECOVERY_SETTINGS,
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
  ...AUDIT_CLIENT_SETTINGS,
  ...SIGNING_SETTINGS,
  ...PROCESS_SETTINGS,
  ...OPS_SETTINGS,
  BATON_AGENTS: text({
    help: 'Module that exports `agents` or `createAgents(environment)`: a path, or a package this process can import.',
  }),
  BATON_CONCURRENCY: integer({
    min: 1,
    max: 1_000,
    default: 32,
    help: 'Most handoffs under way at once for each agent type.',
  }),
  BATON_BLOCKED_POLICY: oneOf(BLOCKED_POLICIES, {
    default: 'reroute',
    help: 'What becomes of a handoff that requires what its agent lacks: another live agent type that has it gets it, it is tried again later, or a person decides at once.',
  }),
  BATON_RETRY_BASE_MS: integer({
    min: 1,
    max: 60_000,
    default: 1_000,
    help: 'Upper bound of the first retry wait; it doubles with every attempt.',
  }),
  BATON_RETRY_CAP_MS: integer({
    min: 1,
    max: 3_600_000,
    default: 60_000,
    help: 'Largest retry wait, in milliseconds.',
  }),
}
