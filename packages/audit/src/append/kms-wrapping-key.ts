// A wrapping key that never leaves AWS KMS. KMS encrypts data keys, data keys wrap the keys of data subjects, and a data key is used
// for so long and so often that KMS is asked seldom: never for each record, and not for each subject.
import { createHash, randomBytes } from 'node:crypto'
import type * as Sdk from '@aws-sdk/client-kms'
import { createBreaker, createTurnstile, NO_TLS, refusePlainUrl, transient } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import { createAwsAgent } from '../aws-agent.ts'
import { createLocalWrappingKey, idOfWrappingKey, unreadable } from './wrapping-key.ts'
import type { WrappingKey } from './wrapping-key.ts'

export interface KmsOptions {
  /** Another service than AWS that speaks the same. */
  readonly endpoint?: string | undefined
  /** Who vouches for an endpoint, and whether data keys may go to another machine in plain text. */
  readonly tls?: Tls | undefined
  /** Stands in the encryption context, so that a policy of the key can name it. */
  readonly environment: string
  /** Milliseconds since 1970; the system clock by default. */
  readonly nowMs?: () => number
}

/** `arn:aws:kms:REGION:ACCOUNT:key/ID`. An alias could be made to mean another key. */
const KEY_ARN = /^arn:aws[a-z-]*:kms:(?<region>[a-z0-9-]+):\d{12}:key\/[A-Za-z0-9-]+$/

export const isKmsKey = (text: string): boolean => KEY_ARN.test(text)

/** How long a data key is used, and remembered after it was opened: so long a key that KMS has disabled still opens. */
const DATA_KEY_MS = 600_000
/** How many subjects' keys one data key wraps, and so what whoever has it opens at most. */
const WRAPPED_MAX = 1_000
/** Data keys that are remembered: 20 kB. */
const OPENED_MAX = 512
const CALLS_MAX = 16
const CALL_MS = 5_000
/** The call ends first, because it knows the cause. */
const NAMED_FIRST_MS = 500
const ATTEMPTS_MAX = 2
const DATA_KEY_BYTES = 32
const FORMAT = 1
const HEAD_BYTES = 3

interface DataKey {
  /** As KMS encrypted it. */
  readonly sealed: Buffer
  readonly key: WrappingKey
}

interface Opened {
  readonly key: Promise<WrappingKey>
  readonly sinceMs: number
}

/**
 * Loads the SDK with the first call, which is large. Credentials come from the SDK's own chain: environment, profile, role. What it
 * wraps and unwraps waits at most five seconds for each call, and then throws BATON_KMS_UNAVAILABLE or BATON_BREAKER_OPEN. Throws
 * BATON_PLAINTEXT_REFUSED.
 */
export function createKmsWrappingKey(keyArn: string, options: KmsOptions): WrappingKey {
  const { endpoint, tls = NO_TLS, nowMs = Date.now } = options
  if (endpoint !== undefined) refusePlainUrl(tls, { url: endpoint, setting: 'BATON_KMS_ENDPOINT' })
  const id = idOf(keyArn)
  const kms = openKms(keyArn, options)
  const opened = new Map<string, Opened>()
  let current:
    | { readonly made: Promise<DataKey>; readonly sinceMs: number; wrapped: number }
    | undefined

  /** The one data key of all who wrap now; a failed one is made again for the next. */
  function dataKey(): Promise<DataKey> {
    if (
      current === undefined ||
      current.wrapped >= WRAPPED_MAX ||
      nowMs() - current.sinceMs > DATA_KEY_MS
    )
      current = { made: makeDataKey(), sinceMs: nowMs(), wrapped: 0 }
    const used = current
    used.wrapped += 1
    used.made.catch(() => {
      if (current === used) current = undefined
    })
    return used.made
  }

  async function makeDataKey(): Promise<DataKey> {
    const secret = randomBytes(DATA_KEY_BYTES)
    const sealed = await kms.encrypt(secret)
    const key = createLocalWrappingKey(secret.toString('base64'))
    remember(sealed, Promise.resolve(key))
    return { sealed, key }
  }

  function remember(sealed: Buffer, key: Promise<WrappingKey>): void {
    const [oldest] = opened.keys()
    if (opened.size >= OPENED_MAX && oldest !== undefined) opened.delete(oldest)
    opened.set(digestOf(sealed), { key, sinceMs: nowMs() })
  }

  function openDataKey(sealed: Buffer): Promise<WrappingKey> {
    const digest = digestOf(sealed)
    const known = opened.get(digest)
    if (known !== undefined && nowMs() - known.sinceMs <= DATA_KEY_MS) return known.key
    opened.delete(digest)
    const key = kms
      .decrypt(sealed)
      .then((secret) => createLocalWrappingKey(secret.toString('base64')))
    remember(sealed, key)
    key.catch(() => {
      if (opened.get(digest)?.key === key) opened.delete(digest)
    })
    return key
  }

  return {
    id,
    async wrap(subjectKey, context) {
      const { sealed, key } = await dataKey()
      const head = Buffer.alloc(HEAD_BYTES)
      head.writeUInt8(FORMAT)
      head.writeUInt16BE(sealed.length, 1)
      return Buffer.concat([head, sealed, await key.wrap(subjectKey, context)])
    },
    async unwrap(wrapped, context) {
      if (wrapped.length < HEAD_BYTES || wrapped.readUInt8() !== FORMAT) throw unreadable(id)
      const end = HEAD_BYTES + wrapped.readUInt16BE(1)
      if (end > wrapped.length) throw unreadable(id)
      const key = await openDataKey(wrapped.subarray(HEAD_BYTES, end))
      return key.unwrap(wrapped.subarray(end), context)
    },
  }
}

const idOf = (keyArn: string): string => idOfWrappingKey(Buffer.from(keyArn))
const digestOf = (sealed: Buffer): string => createHash('sha256').update(sealed).digest('hex')

interface Kms {
  encrypt(plain: Buffer): Promise<Buffer>
  decrypt(sealed: Buffer): Promise<Buffer>
}

/** Throws BATON_KMS_UNAVAILABLE or BATON_BREAKER_OPEN, and BATON_VAULT_KEY_UNREADABLE for a text that KMS will not open. */
function openKms(keyArn: string, options: KmsOptions): Kms {
  const { environment } = options
  const key = { KeyId: keyArn, EncryptionContext: { purpose: 'baton/vault', environment } }
  let connected: Promise<Connected> | undefined
  const connect = () => (connected ??= openClient(keyArn, options))
  const breaker = createBreaker(
    'KMS',
    async (call: Call) => {
      try {
        return await call(await connect(), { abortSignal: AbortSignal.timeout(CALL_MS) })
      } catch (error) {
        if (isRefusedText(error)) throw unreadable(idOf(keyArn), error)
        throw unavailable(error)
      }
    },
    { timeoutMs: CALL_MS + NAMED_FIRST_MS, capacity: CALLS_MAX },
  )
  const enter = createTurnstile(CALLS_MAX)
  const ask = async (call: Call): Promise<Buffer> =>
    Buffer.from((await enter(() => breaker.fire(call))) ?? [])
  return {
    encrypt: (Plaintext) =>
      ask(async ({ sdk, client }, options) => {
        const command = new sdk.EncryptCommand({ ...key, Plaintext })
        return (await client.send(command, options)).CiphertextBlob
      }),
    decrypt: (CiphertextBlob) =>
      ask(async ({ sdk, client }, options) => {
        const command = new sdk.DecryptCommand({ ...key, CiphertextBlob })
        return (await client.send(command, options)).Plaintext
      }),
  }
}

type Call = (connected: Connected, options: CallOptions) => Promise<Uint8Array | undefined>

interface Connected {
  readonly sdk: typeof Sdk
  readonly client: Sdk.KMSClient
}
interface CallOptions {
  readonly abortSignal: AbortSignal
}

async function openClient(keyArn: string, options: KmsOptions): Promise<Connected> {
  const { endpoint, tls = NO_TLS } = options
  const sdk = await import('@aws-sdk/client-kms')
  const region = KEY_ARN.exec(keyArn)?.groups?.['region'] ?? ''
  const client = new sdk.KMSClient({
    region,
    maxAttempts: ATTEMPTS_MAX,
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: 2_000,
      throwOnRequestTimeout: true,
      httpsAgent: createAwsAgent(tls),
    },
    ...(endpoint === undefined ? {} : { endpoint }),
  })
  return { sdk, client }
}

/** KMS says so of a text that was altered, or encrypted by another key or with another context. */
const isRefusedText = (error: unknown): boolean =>
  ['InvalidCiphertextException', 'IncorrectKeyException'].includes(nameOf(error))

const nameOf = (error: unknown): string => (error as { name?: string } | null)?.name ?? 'unknown'

const unavailable = (cause: unknown) =>
  transient('BATON_KMS_UNAVAILABLE', `KMS does not wrap or unwrap keys (${nameOf(cause)})`, {
    cause,
    fix: 'Check that it can be reached, that the key is enabled, and that the credentials may kms:Encrypt and kms:Decrypt with it.',
  })
