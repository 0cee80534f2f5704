// With what a process proves who it is and whom it believes: read from files, checked when it starts, and read again while it runs,
// so that a certificate is replaced without a restart.
import { createSecureContext, getCACertificates } from 'node:tls'
import type { SecureContext } from 'node:tls'
import type { Metrics } from '@baton/telemetry'
import { BatonError, codeOf } from './errors.ts'
import { every } from './every.ts'
import type { Logger } from './logger.ts'
import type { Service } from './service.ts'
import { flag, oneOf, optionalText } from './settings.ts'
import type { Settings } from './settings.ts'
import { showEndsOf } from './certificate-ends.ts'
import { digestOf, namesFiles, readMaterial, readTexts, readTextsNow } from './tls-files.ts'
import type { TlsMaterial } from './tls-files.ts'

export type { TlsMaterial } from './tls-files.ts'

/** In every process: each calls, or is called by, another process or a database. */
export const TLS_SETTINGS = {
  BATON_TLS_CERT_FILE: optionalText({
    help: 'PEM file with the certificate of this process, and behind it those between it and its authority: shown to whoever calls it and to whom it calls. With it, everything here that listens speaks TLS. Read again when it changes.',
  }),
  BATON_TLS_KEY_FILE: optionalText({
    help: 'PEM file with the private key of that certificate, without a passphrase.',
  }),
  BATON_TLS_CA_FILE: optionalText({
    help: 'PEM file with the authorities that vouch for the other side, of servers that this process calls and of clients that call it. Without it those of the machine vouch for servers, and nobody for clients. Read again when it changes.',
  }),
  BATON_ALLOW_PLAINTEXT: flag({
    default: false,
    help: 'Allow connections without TLS to and from other machines.',
  }),
}

/** Who may call a server that speaks TLS: who has a certificate by BATON_TLS_CA_FILE, or anybody. */
export type TlsClients = 'certified' | 'any'

export const tlsClients = (common: { readonly default: TlsClients; readonly help: string }) =>
  oneOf<TlsClients>(['certified', 'any'], common)

/** How this process speaks TLS at this moment. What is made of it is for new connections; open ones stay what they are. */
export interface Tls {
  /** Another object after each change, and the same one until then. */
  readonly material: TlsMaterial
  /** Whether plain text may go to other machines, and come from them. */
  readonly allowPlaintext: boolean
  /** For servers of one's own installation: where BATON_TLS_CA_FILE is set, it alone vouches for them. Made once for each material. */
  toOwn(): SecureContext
  /** For servers of others: the authorities of the machine vouch for them too. */
  toOthers(): SecureContext
  /** For services that know their callers otherwise (buckets, KMS, issuers, models): believed like servers of others, and shown nothing. */
  toServices(): SecureContext
  /** Calls back after each change; answers how to end that. */
  onChange(listener: () => void): () => void
}

interface TlsSources {
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'expiryTimestampSeconds' | 'tlsReloadsTotal'>
  /** That of the system by default. */
  readonly now?: () => Date
  readonly everyMs?: number
}

const EVERY_MS = 2_000

/** Older versions are refused by servers and by clients. */
export const TLS_VERSION_MIN = 'TLSv1.2'

/**
 * Reads the files that the settings name. Throws the permanent BATON_TLS_INVALID, with setting, file and remedy, where one cannot be
 * used. While `watch` runs, files that have changed are taken within seconds; where one cannot be used, what was read before
 * stays, and that is logged (`tls.files_refused`) and counted.
 */
export function createTls(
  settings: Settings<typeof TLS_SETTINGS>,
  { logger, metrics, now = () => new Date(), everyMs = EVERY_MS }: TlsSources,
): { readonly tls: Tls; readonly watch: Service } {
  const texts = readTextsNow(settings)
  const { tls, replace } = createHolder(
    readMaterial(settings, texts, now()),
    settings.BATON_ALLOW_PLAINTEXT,
  )
  let taken = digestOf(texts)
  let doubted: string | undefined
  let refused: string | undefined

  const showEnds = () => showEndsOf('tls', tls.material, metrics)

  // Files are not replaced at once: what cannot be used is told when a second look finds the same.
  const doubt = (state: string, error: unknown) => {
    if (state === doubted && state !== refused) {
      refused = state
      metrics.tlsReloadsTotal.refused.inc()
      const reason = error instanceof BatonError ? error.message : undefined
      logger.error({ event: 'tls.files_refused', code: codeOf(error), reason })
    }
    doubted = state
  }

  async function look(): Promise<void> {
    const read = await readTexts(settings).catch((error: unknown) => error as Error)
    if (read instanceof Error) return doubt(read.message, read)
    const state = digestOf(read)
    if (state !== taken) {
      try {
        replace(readMaterial(settings, read, now()))
      } catch (error) {
        return doubt(state, error)
      }
      showEnds()
      metrics.tlsReloadsTotal.taken.inc()
      logger.info({ event: 'tls.files_taken', endsAt: tls.material.endsAt?.toISOString() })
    }
    taken = state
    doubted = undefined
    refused = undefined
  }

  showEnds()
  const watch = every({
    name: 'tls-watch',
    everyMs: namesFiles(settings) ? everyMs : Infinity,
    holdsProcess: false,
    run: look,
    failed: (error) => logger.error({ event: 'tls.files_refused', code: codeOf(error) }),
  })
  return { tls, watch }
}

/** Reads the files once, for commands that end soon, and programs that are started anew when their files change. Throws BATON_TLS_INVALID. */
export const readTls = (settings: Settings<typeof TLS_SETTINGS>): Tls =>
  createHolder(
    readMaterial(settings, readTextsNow(settings), new Date()),
    settings.BATON_ALLOW_PLAINTEXT,
  ).tls

function createHolder(first: TlsMaterial, allowPlaintext: boolean) {
  const listeners = new Set<() => void>()
  let material = first
  let contexts: { own?: SecureContext; others?: SecureContext; services?: SecureContext } = {}
  const contextOf = (
    ca: readonly string[] | undefined,
    shown: Pick<TlsMaterial, 'certificate' | 'key'> = material,
  ) =>
    createSecureContext({
      minVersion: TLS_VERSION_MIN,
      cert: shown.certificate,
      key: shown.key,
      ...(ca === undefined ? {} : { ca: [...ca] }),
    })
  const everybody = () =>
    material.authorities && [...getCACertificates('default'), ...material.authorities]
  const tls: Tls = {
    get material() {
      return material
    },
    allowPlaintext,
    toOwn: () => (contexts.own ??= contextOf(material.authorities)),
    toOthers: () => (contexts.others ??= contextOf(everybody())),
    toServices: () => (contexts.services ??= contextOf(everybody(), NOTHING_SHOWN)),
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const replace = (next: TlsMaterial) => {
    material = next
    contexts = {}
    for (const listener of listeners) listener()
  }
  return { tls, replace }
}

const NOTHING_SHOWN = { certificate: undefined, key: undefined }

/** Neither a certificate nor an authority of one's own, and plain text only within this machine. */
export const NO_TLS: Tls = createHolder(
  { ...NOTHING_SHOWN, authorities: undefined, endsAt: undefined, authorityEndsAt: undefined },
  false,
).tls
