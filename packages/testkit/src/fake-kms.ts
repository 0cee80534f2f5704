// A stand-in for AWS KMS, for tests only: Encrypt and Decrypt in its JSON protocol, in memory. It answers what the tests of this house
// ask. It checks no signature, no policy and no region; that AWS answers the same, or how fast, is not shown by it.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Certified } from '@baton/embedded'

export interface FakeKms {
  readonly url: string
  readonly keyArn: string
  /** What was asked of it, in order. */
  readonly calls: readonly { readonly name: string; readonly context: unknown }[]
  /** Most that it was asked at the same time. */
  readonly mostAtOnce: number
  /** How it fails from now on, or that it does not. */
  fail(how: 'refuses' | 'hangs' | 'breaks off' | undefined): void
  close(): Promise<void>
}

interface Asked {
  readonly KeyId: string
  readonly Plaintext?: string
  readonly CiphertextBlob?: string
  readonly EncryptionContext?: Readonly<Record<string, string>>
}

interface Reply {
  readonly status: number
  readonly body: object
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Over TLS with `own`. */
export async function startFakeKms(own?: Certified): Promise<FakeKms> {
  const secret = randomBytes(32)
  const keyArn = `arn:aws:kms:eu-central-1:111122223333:key/${crypto.randomUUID()}`
  const calls: { name: string; context: unknown }[] = []
  let failing: Parameters<FakeKms['fail']>[0]
  let atOnce = 0
  let mostAtOnce = 0
  const respond: RequestListener = (request, response) => {
    void (async () => {
      atOnce += 1
      mostAtOnce = Math.max(mostAtOnce, atOnce)
      const { name, asked } = await read(request)
      calls.push({ name, context: asked.EncryptionContext })
      await new Promise((resolve) => setImmediate(resolve))
      atOnce -= 1
      if (failing === 'hangs') return
      if (failing === 'breaks off') {
        request.socket.destroy()
        return
      }
      const { status, body } =
        failing === 'refuses'
          ? refusal('AccessDeniedException')
          : answer({ name, asked }, { secret, keyArn })
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' })
      response.end(JSON.stringify(body))
    })()
  }
  const server =
    own === undefined
      ? createServer(respond)
      : createSecureServer({ cert: own.certificate, key: own.key }, respond)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http${own === undefined ? '' : 's'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keyArn,
    calls,
    get mostAtOnce() {
      return mostAtOnce
    },
    fail(how) {
      failing = how
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function read(request: IncomingMessage): Promise<{ name: string; asked: Asked }> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const target = String(request.headers['x-amz-target'])
  return {
    name: target.replace('TrentService.', ''),
    asked: JSON.parse(Buffer.concat(chunks).toString()) as Asked,
  }
}

/** The order of the members does not count, as with AWS. */
const aadOf = ({ EncryptionContext: context = {} }: Asked): Buffer =>
  Buffer.from(JSON.stringify(Object.entries(context).toSorted()))

function answer(
  { name, asked }: { readonly name: string; readonly asked: Asked },
  { secret, keyArn }: { readonly secret: Buffer; readonly keyArn: string },
): Reply {
  if (asked.KeyId !== keyArn) return refusal('NotFoundException')
  if (name === 'Encrypt') {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', secret, nonce).setAAD(aadOf(asked))
    const plain = Buffer.from(asked.Plaintext ?? '', 'base64')
    const blob = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
    return { status: 200, body: { KeyId: keyArn, CiphertextBlob: blob.toString('base64') } }
  }
  if (name !== 'Decrypt') return refusal('UnknownOperationException')
  const blob = Buffer.from(asked.CiphertextBlob ?? '', 'base64')
  try {
    const decipher = createDecipheriv('aes-256-gcm', secret, blob.subarray(0, NONCE_BYTES))
    decipher.setAAD(aadOf(asked)).setAuthTag(blob.subarray(-TAG_BYTES))
    const sealed = blob.subarray(NONCE_BYTES, -TAG_BYTES)
    const plain = Buffer.concat([decipher.update(sealed), decipher.final()])
    return { status: 200, body: { KeyId: keyArn, Plaintext: plain.toString('base64') } }
  } catch {
    return refusal('InvalidCiphertextException')
  }
}

const refusal = (__type: string): Reply => ({ status: 400, body: { __type, message: __type } })
