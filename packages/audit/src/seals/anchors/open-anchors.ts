// Everybody outside the database who has seen its seals, from settings: to be asked by whoever verifies.
import type { KeyObject } from 'node:crypto'
import { permanent, readRegularFile } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import type { Database, Pool } from '../../database.ts'
import type { SealWatchSettings } from '../../settings.ts'
import type { SealTrust } from '../../verify/ask-outside.ts'
import { sealLogKeys } from '../read-seal-keys.ts'
import { readLastSeal, readSeal, readWitnessed } from '../seals.ts'
import { readSealerKnowledge } from '../sealer-state.ts'
import type { Anchor, AnchoredLog } from './anchor.ts'
import { readFileAnchor } from './file-anchor.ts'
import { readWitness } from './read-witness.ts'
import { loadS3Anchor } from './s3-anchor.ts'
import { readWitnessUrls } from './witness-anchor.ts'

/** Nobody is asked yet. `pool` tells the name of the log, its keys, and what to ask witnesses about. Throws BATON_POLICY_INVALID. */
export async function openSealTrust(
  pool: Pool,
  publicKey: KeyObject,
  { tls, ...settings }: SealWatchSettings & { readonly tls?: Tls | undefined },
): Promise<SealTrust> {
  const { BATON_SEAL_ANCHOR_FILE: file, BATON_SEALER_STATE_FILE: state } = settings
  const log = sealLogKeys(pool, publicKey)
  const witnesses = await readWitnesses(settings.BATON_SEAL_POLICY_FILE)
  return {
    publicKey,
    anchors: [
      ...(file === undefined ? [] : [readFileAnchor(file, log)]),
      ...readBucket({ ...settings, tls }, log),
      ...witnesses.map(({ key, url }) => readWitness({ url, key, log, noteAt: noteAt(pool), tls })),
    ],
    ...(state === undefined ? {} : { state: () => readSealerKnowledge(state) }),
  }
}

function readBucket(
  settings: SealWatchSettings & { readonly tls: Tls | undefined },
  log: AnchoredLog,
): readonly Pick<Anchor, 'name' | 'latest'>[] {
  const bucket = settings.BATON_SEAL_S3_BUCKET
  if (bucket === undefined) return []
  const { BATON_SEAL_S3_REGION: region, BATON_SEAL_S3_ENDPOINT: endpoint } = settings
  const latest = async () => {
    // Only a sealer writes, so nothing is locked from here.
    const place = { bucket, region, endpoint, lockDays: 0, tls: settings.tls }
    return (await loadS3Anchor(place))(log).latest()
  }
  return [{ name: `s3 ${bucket}`, latest }]
}

async function readWitnesses(path: string | undefined) {
  return path === undefined ? [] : readWitnessUrls(await readRegularFile(path)).witnesses
}

/**
 * The same for somebody who may not have been told whose key seals: undefined where nothing is sealed either. Throws
 * BATON_VERIFY_SETTINGS_MISSING where seals exist that nobody here can judge.
 */
export async function requireSealTrust(
  pool: Pool,
  publicKey: KeyObject | undefined,
  settings: SealWatchSettings & { readonly tls?: Tls | undefined },
): Promise<SealTrust | undefined> {
  if (publicKey !== undefined) return openSealTrust(pool, publicKey, settings)
  if ((await readLastSeal(pool)) === undefined) return undefined
  throw SEAL_KEY_MISSING
}

const SEAL_KEY_MISSING = permanent(
  'BATON_VERIFY_SETTINGS_MISSING',
  'the log is sealed, and nobody said with whose key',
  {
    fix: 'Set BATON_SEAL_PUBLIC_KEY to the sealer’s public key, and BATON_SEAL_ANCHOR_FILE, BATON_SEAL_S3_BUCKET or BATON_SEAL_POLICY_FILE as the sealer has them.',
  },
)

const noteAt =
  (db: Database) =>
  async (size?: number): Promise<string | undefined> => {
    if (size !== undefined) return (await readSeal(db, size - 1))?.note
    return (await readLastSeal(db))?.note ?? (await readWitnessed(db))?.note
  }
