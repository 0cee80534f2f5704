// What a program needs that verifies evidence of Baton by itself: the verdict of `baton-verify`, as a value.
export { EXIT_CODES, parseAuditorPolicy, verifyBundle } from '@baton/ledger'
export type {
  AuditorPolicy,
  BundleFinding,
  BundleReport,
  CheckReport,
  ProvenEnd,
} from '@baton/ledger'
