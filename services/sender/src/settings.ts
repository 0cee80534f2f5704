// What a sender process is told.
import { integer, OPS_SETTINGS, optionalText, PROCESS_SETTINGS } from '@baton/runtime'
import {
  COMPRESSION_SETTINGS,
  FAN_OUT_SETTINGS,
  OUTBOX_SETTINGS,
  PLACE_SETTINGS,
  SIGNING_SETTINGS,
  STORE_SETTINGS,
  SUMMARISER_SETTINGS,
} from '@baton/engine'

export const SENDER_SETTINGS = {
  ...STORE_SETTINGS,
  ...PLACE_SETTINGS,
  ...COMPRESSION_SETTINGS,
  ...SUMMARISER_SETTINGS,
  ...SIGNING_SETTINGS,
  ...FAN_OUT_SETTINGS,
  ...OUTBOX_SETTINGS,
  ...PROCESS_SETTINGS,
  ...OPS_SETTINGS,
  BATON_TENANT: optionalText({
    help: 'Whose tasks are begun here; the default tenant’s where it is not set. `baton tenants` lists them.',
    pattern: /^[a-z][a-z0-9-]{0,30}$/,
    bounds: 'a tenant’s name: lower-case letters, digits and dashes',
  }),
  BATON_SENDER_UNDER_WAY_MAX: integer({
    min: 1,
    max: 10_000,
    default: 256,
    help: 'Most lines read and not yet answered; reading pauses above it.',
  }),
}
