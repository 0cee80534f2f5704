// What the settings name, opened: the database, the keys, and everybody who is shown the seals.
import {
  createFileAnchor,
  createPool,
  createWitnessAnchor,
  loadS3Anchor,
  readHeads,
  readWitnessUrls,
} from '@baton/audit'
import type { Anchor, AnchoredLog, Pool } from '@baton/audit'
import {
  batchKeyId,
  createNoteSigner,
  EMPTY_ROOT,
  formatCheckpoint,
  readBatchPublicKey,
  sealLogOrigin,
  signNote,
} from '@baton/ledger'
import { permanent, readRegularFile } from '@baton/runtime'
import type { Settings, Tls } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import { readSealingKeys } from './seal-ring.ts'
import type { SealerOptions } from './sealer-options.ts'
import type { SEALER_SETTINGS } from './settings.ts'

export type SealerSettings = Settings<typeof SEALER_SETTINGS>

export type SealerParts = Pick<
  SealerOptions,
  | 'pool'
  | 'statePath'
  | 'origin'
  | 'signingKeys'
  | 'batchKeys'
  | 'anchors'
  | 'policy'
  | 'firstWitness'
>

const STATEMENT_MS = 60_000

/** Throws BATON_AUDIT_CHAINS_MISSING, and BATON_SETTINGS_INVALID where no anchor is named. */
export async function openParts(
  settings: SealerSettings,
  { tls, metrics }: { readonly tls: Tls; readonly metrics?: Metrics },
): Promise<SealerParts> {
  const pool = createPool({
    url: settings.BATON_AUDIT_SEALER_URL,
    applicationName: 'baton-sealer',
    connectionsMax: 4,
    statementMs: STATEMENT_MS,
    ...(metrics && { gauges: metrics.poolConnections }),
  })
  const origin = await readSealLogOrigin(pool)
  return {
    pool,
    statePath: settings.BATON_SEALER_STATE_FILE,
    origin,
    signingKeys: readSealingKeys(settings.BATON_SEAL_SIGNING_KEY, origin),
    batchKeys: trustedKeys(settings),
    ...(await readAnchors(settings, { origin, tls })),
  }
}

function trustedKeys(settings: SealerSettings): SealerOptions['batchKeys'] {
  const keys = settings.BATON_AUDIT_TRUSTED_KEYS.split(',').filter((key) => key !== '')
  return new Map(keys.map(readBatchPublicKey).map((key) => [batchKeyId(key), key]))
}

/** The seal log is named after the chains, which the database was made with. */
async function readSealLogOrigin(pool: Pool): Promise<string> {
  const origin = (await readHeads(pool))[0]?.origin
  if (origin !== undefined) return sealLogOrigin(origin)
  throw permanent('BATON_AUDIT_CHAINS_MISSING', 'the audit database holds no chain', {
    fix: 'Run `baton migrate`; if chains existed before, treat this as tampering.',
  })
}

function emptyNote(origin: string, pkcs8: string): string {
  const signer = createNoteSigner({ name: origin, pkcs8 })
  return signNote(formatCheckpoint({ origin, size: 0, root: EMPTY_ROOT }), [signer])
}

async function readAnchors(
  settings: SealerSettings,
  { origin, tls }: { readonly origin: string; readonly tls: Tls },
): Promise<Pick<SealerOptions, 'anchors' | 'policy' | 'firstWitness'>> {
  const { BATON_SEAL_ANCHOR_FILE: anchorFile, BATON_SEAL_POLICY_FILE: policyFile } = settings
  const { policy, witnesses } =
    policyFile === undefined
      ? { policy: undefined, witnesses: [] }
      : readWitnessUrls(await readRegularFile(policyFile))
  const buckets = await readBuckets(settings, tls)
  if (anchorFile === undefined && buckets.length + witnesses.length === 0) throw anchorless()
  const anchors: SealerOptions['anchors'] = (known): readonly Anchor[] => {
    const log: AnchoredLog = async () => ({ origin, keys: known.ring().keys })
    const sizeOf = (name: string) => () => known.anchored()[name]?.size ?? 0
    return [
      ...(anchorFile === undefined ? [] : [createFileAnchor(anchorFile, log, sizeOf('file'))]),
      ...buckets.map((open) => open(log)),
      ...witnesses.map(({ key, url }) => {
        const knownSize = sizeOf(`witness ${key.name}`)
        const asking = () => emptyNote(origin, known.ring().current.pkcs8)
        return createWitnessAnchor({ url, key, emptyNote: asking, knownSize, tls })
      }),
    ]
  }
  const firstWitness = settings.BATON_SEALER_STANDBY ? witnesses[0]?.key : undefined
  if (settings.BATON_SEALER_STANDBY && firstWitness === undefined) throw witnessless()
  return { anchors, policy, firstWitness }
}

async function readBuckets(
  settings: SealerSettings,
  tls: Tls,
): Promise<readonly ((log: AnchoredLog) => Anchor)[]> {
  const bucket = settings.BATON_SEAL_S3_BUCKET
  if (bucket === undefined) return []
  const { BATON_SEAL_S3_REGION: region, BATON_SEAL_S3_ENDPOINT: endpoint } = settings
  const lockDays = settings.BATON_SEAL_S3_LOCK_DAYS
  return [await loadS3Anchor({ bucket, region, endpoint, lockDays, tls })]
}

const anchorless = () =>
  permanent('BATON_SETTINGS_INVALID', 'a sealer needs an anchor outside the database', {
    fix: 'Set BATON_SEAL_ANCHOR_FILE, BATON_SEAL_S3_BUCKET, or BATON_SEAL_POLICY_FILE with a witness and its URL.',
  })

const witnessless = () =>
  permanent('BATON_SETTINGS_INVALID', 'a sealer that stands by needs a witness', {
    fix: 'Name one with its URL in BATON_SEAL_POLICY_FILE, the same first one for all sealers of the log: it alone keeps two of them from signing two histories. Without a witness, run one sealer and leave BATON_SEALER_STANDBY out.',
  })
