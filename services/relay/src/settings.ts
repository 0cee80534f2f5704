// What a relay process is told.
import { integer, OPS_SETTINGS, PROCESS_SETTINGS } from '@baton/runtime'
import {
  ALERT_SETTINGS,
  AUDIT_CLIENT_SETTINGS,
  QUEUE_SETTINGS,
  RECOVERY_SETTINGS,
  STORE_SETTINGS,
  UNSAFE_POSTGRES_SETTINGS,
  UNSAFE_REDIS_SETTINGS,
} from '@baton/engine/settings'

export const RELAY_SETTINGS = {
  ...STORE_SETTINGS,
  ...QUEUE_SETTINGS,
  ...UNSAFE_POSTGRES_SETTINGS,
  ...UNSAFE_REDIS_SETTINGS,
  ...RECOVERY_SETTINGS,
  ...AUDIT_CLIENT_SETTINGS,
  ...ALERT_SETTINGS,
  ...PROCESS_SETTINGS,
  ...OPS_SETTINGS,
  BATON_RELAY_WAITING_MAX: integer({
    min: 1,
    max: 100_000,
    default: 5_000,
    help: 'Most jobs waiting in one queue; above it handoffs wait in Postgres.',
  }),
}
