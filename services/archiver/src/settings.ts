// What an archiver is told: where it reads, where it keeps, and when it may let go.
import {
  COLD_STORE_SETTINGS,
  RETENTION_SETTINGS,
  SEEN_OUTSIDE_SETTINGS,
} from '@baton/audit/settings'
import {
  flag,
  integer,
  OPS_SETTINGS,
  PROCESS_SETTINGS,
  secret,
  text,
  url,
  urls,
} from '@baton/runtime'

export const ARCHIVER_SETTINGS = {
  BATON_AUDIT_ARCHIVER_URL: url(['postgres', 'postgresql'], {
    help: 'The audit database, as the role audit_archiver.',
  }),
  BATON_SEAL_PUBLIC_KEY: text({
    help: 'The sealer’s public key: SPKI DER in base64. Nothing is archived that it did not sign.',
  }),
  ...SEEN_OUTSIDE_SETTINGS,
  BATON_AUDIT_URL: urls(['http', 'https'], {
    help: 'The auditor, which records every drop. Of several, separated by commas, the first that answers is asked.',
  }),
  BATON_AUDIT_ARCHIVE_TOKEN: secret({
    help: 'The bearer token with which it records what left a store, and nothing else.',
  }),
  ...COLD_STORE_SETTINGS,
  BATON_ARCHIVE_EVERY_MS: integer({
    min: 50,
    max: 3_600_000,
    default: 60_000,
    help: 'How often full bundles are archived.',
  }),
  BATON_ARCHIVE_RETENTION_EVERY_MS: integer({
    min: 100,
    max: 86_400_000,
    default: 3_600_000,
    formerly: 'BATON_ARCHIVE_UPKEEP_EVERY_MS',
    help: 'How often it is looked whether a day may be dropped or a bundle has expired.',
  }),
  BATON_ARCHIVE_WATCH_BUNDLES_PER_SECOND: integer({
    min: 1,
    max: 10_000,
    default: 5,
    help: 'Bundles of the cold store that are read and hashed again per second, each with payloads and hash tile, at least; more where a pass over all would take longer than a day.',
  }),
  BATON_ARCHIVE_WATCH_EVERY_MS: integer({
    min: 50,
    max: 86_400_000,
    default: 60_000,
    help: 'How often a pass over a small cold store begins; a large one is read without a pause.',
  }),
  ...RETENTION_SETTINGS,
  BATON_AUDIT_DROP_WITNESSED: flag({
    default: true,
    help: 'A day is dropped only under seals that a witness has cosigned, not merely under seals.',
  }),
  ...PROCESS_SETTINGS,
  ...OPS_SETTINGS,
}
