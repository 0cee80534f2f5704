// A stand-in for S3, for tests only: conditional writes, uploads in parts, ranges, Object Lock and listing, over HTTP or HTTPS and in memory.
// It answers what the tests of this house ask. That real services answer the same is not shown by it.
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Certified } from '@baton/embedded'

interface StoredObject {
  readonly bytes: Buffer
  /** What readers are answered with them. */
  readonly headers: Readonly<Record<string, string>>
  /** When COMPLIANCE mode lets go of it; null without a lock. */
  readonly lockedUntil: string | null
}

export interface FakeS3 {
  readonly url: string
  /** By `bucket/key`. */
  readonly objects: ReadonlyMap<string, StoredObject>
  /** What an attacker cannot do to a locked object, for tests of what would follow. */
  overwrite(name: string, bytes: string): void
  /** Shows another certificate from now on. */
  certify(own: Certified): void
  /** Ends what is open. */
  hangUp(): void
  /** How many connections showed it a certificate. */
  readonly shown: number
  close(): Promise<void>
}

interface Reply {
  readonly status: number
  readonly body?: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/** Over TLS with `own`, asking whoever comes for a certificate and believing every one. */
export async function startFakeS3(own?: Certified): Promise<FakeS3> {
  const objects = new Map<string, StoredObject>()
  let shown = 0
  const respond = (request: IncomingMessage, response: ServerResponse) =>
    void answer(request, objects).then((reply) => write(response, reply))
  const secure =
    own === undefined
      ? undefined
      : createSecureServer(
          { ...contextOf(own), requestCert: true, rejectUnauthorized: false },
          respond,
        )
  secure?.on('secureConnection', (socket) => {
    if (socket.getPeerX509Certificate() !== undefined) shown += 1
  })
  const server = secure ?? createServer(respond)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http${own === undefined ? '' : 's'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    get shown() {
      return shown
    },
    certify: (next) => secure?.setSecureContext(contextOf(next)),
    hangUp: () => server.closeAllConnections(),
    overwrite: (name, bytes) =>
      void objects.set(name, { bytes: Buffer.from(bytes), headers: {}, lockedUntil: null }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const contextOf = ({ certificate: cert, key }: Certified) => ({ cert, key })

async function answer(
  request: IncomingMessage,
  objects: Map<string, StoredObject>,
): Promise<Reply> {
  const url = new URL(request.url ?? '/', 'http://s3')
  const name = decodeURIComponent(url.pathname.slice(1))
  const parts = answerParts(request, objects, { name, query: url.searchParams })
  if (parts !== undefined) return parts
  if (request.method === 'PUT') return put(request, objects, name)
  if (request.method === 'GET' && url.searchParams.has('list-type')) {
    return list(url.searchParams, objects, name.replace(/\/$/, ''))
  }
  if (request.method === 'GET' || request.method === 'HEAD') {
    const object = objects.get(name)
    return object === undefined ? fault(404, 'NoSuchKey') : give(request, object)
  }
  if (request.method === 'DELETE') return remove(objects, name)
  return fault(501, 'NotImplemented')
}

function give(
  { headers: asked, method }: IncomingMessage,
  { bytes, headers }: StoredObject,
): Reply {
  const etag = { etag: `"${bytes.length}"` }
  if (method === 'HEAD')
    return { status: 200, headers: { ...headers, ...etag, 'content-length': String(bytes.length) } }
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(asked.range ?? '') ?? []
  if (from === undefined) return { status: 200, body: bytes, headers: { ...headers, ...etag } }
  return {
    status: 206,
    body: bytes.subarray(Number(from), Number(to) + 1),
    headers: { ...headers, ...etag },
  }
}

interface Asked {
  readonly name: string
  readonly query: URLSearchParams
}

/** An upload in parts: parts stand beside the object until they are completed or given up. */
function answerParts(
  request: IncomingMessage,
  objects: Map<string, StoredObject>,
  { name, query }: Asked,
): Promise<Reply> | Reply | undefined {
  const part = (number: string): string => `${name}?part=${number.padStart(5, '0')}`
  const number = query.get('partNumber')
  if (number !== null) return put(request, objects, part(number))
  const parts = [...objects.keys()].filter((key) => key.startsWith(`${name}?part=`)).toSorted()
  if (request.method === 'POST' && query.has('uploads'))
    return {
      status: 200,
      body: '<?xml version="1.0"?><InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>',
    }
  if (!query.has('uploadId')) return undefined
  const bytes = Buffer.concat(parts.map((key) => objects.get(key)?.bytes ?? Buffer.alloc(0)))
  for (const key of parts) objects.delete(key)
  if (request.method === 'POST') objects.set(name, { bytes, headers: {}, lockedUntil: null })
  return {
    status: 200,
    body: '<?xml version="1.0"?><CompleteMultipartUploadResult></CompleteMultipartUploadResult>',
  }
}

async function put(
  request: IncomingMessage,
  objects: Map<string, StoredObject>,
  name: string,
): Promise<Reply> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  if (request.headers['if-none-match'] === '*' && objects.has(name)) {
    return fault(412, 'PreconditionFailed')
  }
  const lockedUntil = request.headers['x-amz-object-lock-retain-until-date']
  const encodings = String(request.headers['content-encoding'] ?? '').split(/, */)
  const isStreamed = encodings.includes('aws-chunked')
  const sent = Buffer.concat(chunks)
  const bytes = isStreamed ? unchunk(sent) : sent
  const headers = keptHeaders(request, encodings)
  objects.set(name, { bytes, headers, lockedUntil: lockedUntil?.toString() ?? null })
  return { status: 200 }
}

function keptHeaders(
  { headers }: IncomingMessage,
  encodings: readonly string[],
): Readonly<Record<string, string>> {
  const kept = encodings.filter((encoding) => encoding !== '' && encoding !== 'aws-chunked')
  return {
    ...(kept.length === 0 ? {} : { 'content-encoding': kept.join(',') }),
    'content-type': headers['content-type'] ?? 'binary/octet-stream',
    'cache-control': headers['cache-control'] ?? 'no-cache',
  }
}

// The SDK sends `<hex length>[;signature]\r\n<bytes>\r\n` repeated, a zero chunk and trailers.
function unchunk(sent: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < sent.length;) {
    const end = sent.indexOf('\r\n', at)
    const length = Number.parseInt(sent.toString('latin1', at, end), 16)
    if (!(length > 0)) break
    parts.push(sent.subarray(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
  return Buffer.concat(parts)
}

function list(
  parameters: URLSearchParams,
  objects: ReadonlyMap<string, StoredObject>,
  bucket: string,
): Reply {
  const prefix = `${bucket}/${parameters.get('prefix') ?? ''}`
  const keysMax = Number(parameters.get('max-keys') ?? 1_000)
  const names = [...objects.keys()].filter((name) => name.startsWith(prefix)).toSorted()
  const contents = names
    .slice(0, keysMax)
    .map(
      (name) =>
        `<Contents><Key>${name.slice(bucket.length + 1)}</Key><Size>${objects.get(name)?.bytes.length ?? 0}</Size></Contents>`,
    )
  const body = `<?xml version="1.0"?><ListBucketResult><IsTruncated>${names.length > keysMax}</IsTruncated>${contents.join('')}</ListBucketResult>`
  return { status: 200, body }
}

function remove(objects: Map<string, StoredObject>, name: string): Reply {
  const lockedUntil = objects.get(name)?.lockedUntil
  if (lockedUntil && Date.parse(lockedUntil) > Date.now()) return fault(403, 'AccessDenied')
  objects.delete(name)
  return { status: 204 }
}

const fault = (status: number, code: string): Reply => ({
  status,
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`,
})

function write(response: ServerResponse, { status, body, headers }: Reply): void {
  response.writeHead(status, headers ?? { 'content-type': 'application/xml' })
  response.end(body)
}
