// What a sender process is told.
import { flag, integer, OPS_SETTINGS, PROCESS_SETTINGS } from '@baton/runtime'
import {
  COMPRESSION_SETTINGS,
  FAN_OUT_SETTINGS,
  LARGE_WORK_SETTINGS,
  OUTBOX_SETTINGS,
  PLACE_SETTINGS,
  SIGNING_SETTINGS,
  STORE_SETTINGS,
  SUMMARISER_SETTINGS,
  TENANT_SETTINGS,
} from '@baton/engine/settings'

export const SENDER_SETTINGS = {
  ...STORE_SETTINGS,
  ...PLACE_SETTINGS,
  ...COMPRESSION_SETTINGS,
  ...SUMMARISER_SETTINGS,
  ...SIGNING_SETTINGS,
  ...FAN_OUT_SETTINGS,
  ...OUTBOX_SETTINGS,
  ...LARGE_WORK_SETTINGS,
  ...TENANT_SETTINGS,
  ...PROCESS_SETTINGS,
  ...OPS_SETTINGS,
  BATON_SENDER_CRITICAL: flag({
    default: false,
    help: 'Whether what it reads may have priority 0, which has a bound of its own.',
  }),
  BATON_SENDER_UNDER_WAY_MAX: integer({
    min: 1,
    max: 10_000,
    default: 256,
    help: 'Most lines read and not yet answered; reading pauses above it.',
  }),
}
