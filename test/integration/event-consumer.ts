// A consumer of events by webhooks, as somebody else would write it: verified by Standard Webhooks, read by the CloudEvents SDK.
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HTTP } from 'cloudevents'
import type { CloudEventV1 } from 'cloudevents'
import { Webhook } from 'standardwebhooks'

export interface Heard {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly event: CloudEventV1<Record<string, unknown>>
}

export type Behave = (tried: number, event: Heard) => number | 'hang' | 'cut' | 'endless' | 'drip'

export interface EventConsumer {
  url(path: string): string
  /** What was taken with 2xx, in order. */
  taken(path: string): readonly Heard[]
  /** Every try whose signature is good. */
  tried(path: string): readonly Heard[]
  /** Tries without a good signature. */
  forged(): number
  on(path: string, behave: Behave): void
  /** Verifies with these; any of them is enough. */
  trust(path: string, ...secrets: readonly string[]): void
  close(): Promise<void>
}

export async function startEventConsumer(): Promise<EventConsumer> {
  const tries: Heard[] = []
  const takes: Heard[] = []
  const behaving = new Map<string, Behave>()
  const secrets = new Map<string, readonly string[]>()
  let forged = 0
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      if (!isSigned(secrets.get(path) ?? [], request.headers, body)) {
        forged += 1
        return void response.writeHead(401).end()
      }
      const event = HTTP.toEvent({ headers: request.headers, body }) as Heard['event']
      const heard = { path, headers: request.headers, event }
      tries.push(heard)
      const turn = tries.filter((one) => one.path === path).length
      const answer = behaving.get(path)?.(turn, heard) ?? 204
      if (answer === 'cut') return void request.socket.destroy()
      if (answer === 'hang') return
      if (answer === 'endless' || answer === 'drip') {
        takes.push(heard)
        response.writeHead(200)
        return answer === 'endless' ? pour(response) : void response.write('a')
      }
      if (answer < 300) takes.push(heard)
      response.writeHead(answer, { location: 'http://127.0.0.1:1/', 'retry-after': '1' }).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const at = (list: readonly Heard[], path: string) => list.filter((one) => one.path === path)
  return {
    url: (path) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    taken: (path) => at(takes, path),
    tried: (path) => at(tries, path),
    forged: () => forged,
    on: (path, behave) => void behaving.set(path, behave),
    trust: (path, ...trusted) => void secrets.set(path, trusted),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function pour(response: NodeJS.WritableStream & { destroyed?: boolean }): void {
  const chunk = Buffer.alloc(65_536)
  const more = () => {
    while (response.destroyed !== true && response.write(chunk));
  }
  response.on('drain', more)
  more()
}

const isSigned = (
  secrets: readonly string[],
  headers: IncomingHttpHeaders,
  body: string,
): boolean =>
  secrets.some((secret) => {
    try {
      new Webhook(secret).verify(body, headers as Record<string, string>)
      return true
    } catch {
      return false
    }
  })
