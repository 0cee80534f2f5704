// Renewed certificates under a running server: whoever uses it sees to it that the server takes what now stands in its files,
// within seconds and without a restart.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { BatonError, codeOf, every, readTls, replaceFile } from '@baton/runtime'
import type { Logger, TlsMaterial } from '@baton/runtime'
import { withLock } from '@baton/infra/lock'
import type { ServerTls } from './server-tls.ts'

/** What a server shows, and by whom it believes others; whole, and checked. */
export interface ServerMaterial extends TlsMaterial {
  readonly certificate: string
  readonly key: string
  readonly authorities: readonly string[]
}

interface FollowOptions {
  /** What people call the server. */
  readonly title: string
  readonly files: ServerTls
  /** Where it is noted what the server has taken. */
  readonly takenPath: string
  /** Has the server take it; throws where it did not. */
  take(material: ServerMaterial): Promise<void>
  readonly logger: Pick<Logger, 'info' | 'warn'>
  readonly everyMs?: number
}

const EVERY_MS = 1_000
/** A server that did not take what looks whole is not asked again every second. */
const AGAIN_MS = 30_000
const LOCK_WAIT_MS = 20_000

/** Throws the permanent BATON_TLS_INVALID where one of the files cannot be used. */
export const readServerTls = (files: ServerTls): ServerMaterial =>
  // All three are named, so all three are there.
  readTls({
    BATON_TLS_CERT_FILE: files.certificateFile,
    BATON_TLS_KEY_FILE: files.keyFile,
    BATON_TLS_CA_FILE: files.authorityFile,
    BATON_ALLOW_PLAINTEXT: false,
  }).material as ServerMaterial

/** To be called when a server has started with this, and not before: whoever comes later takes it for granted. */
export const noteTaken = (takenPath: string, material: ServerMaterial): Promise<void> =>
  replaceFile(takenPath, stateOf(material))

/**
 * Has the server take its files where they are not what it has, and from then on whenever they change, until the answered function is
 * called. Any number of processes may do so for one server: one of them does it. What cannot be used changes nothing and is
 * logged once, at the second look, since files are not replaced at once.
 */
export async function followCertificates(options: FollowOptions): Promise<() => Promise<void>> {
  const { title, files, takenPath, take, logger, everyMs = EVERY_MS } = options
  let taken: string | undefined

  async function look(): Promise<void> {
    const material = readServerTls(files)
    const state = stateOf(material)
    if (state === taken) return
    await withLock(`${takenPath}.lock`, { waitMs: LOCK_WAIT_MS }, async () => {
      if ((await readTaken(takenPath)) === state) return
      await take(material)
      await noteTaken(takenPath, material)
      const endsAt = material.endsAt?.toISOString()
      logger.info({ event: 'server.files_taken', server: title, endsAt })
    })
    taken = state
  }

  const failed = (error: unknown, failures: number): number => {
    if (failures < 2) return everyMs
    const reason = error instanceof BatonError ? error.message : undefined
    if (failures === 2)
      logger.warn({ event: 'server.files_refused', server: title, code: codeOf(error), reason })
    return codeOf(error) === 'BATON_TLS_INVALID' ? everyMs : AGAIN_MS
  }

  // What was renewed while nobody used the server is taken before anybody does.
  const isBehind = await look().then(
    () => false,
    () => true,
  )
  const watch = every({
    name: 'server-certificates',
    everyMs,
    firstAfterMs: isBehind ? 0 : everyMs,
    holdsProcess: false,
    run: look,
    failed,
  })
  await watch.start()
  return () => watch.stop()
}

const readTaken = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch(() => undefined)

/** The same for the same certificates and key alone. */
const stateOf = ({ certificate, key, authorities }: ServerMaterial): string =>
  createHash('sha256')
    .update(JSON.stringify([certificate, key, authorities]))
    .digest('hex')
