// An agent behind an HTTP address, as somebody else would write it: it remembers what it was sent and answers as the test says.
import { createHmac, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Pushed {
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: {
    readonly handoffId: string
    readonly taskId: string
    readonly fencingToken: number
    readonly attempt: number
    readonly idempotencyKey: string
    readonly context: string
    readonly deadline: string | null
    readonly traceparent: string
  }
}

type Answerer = (response: ServerResponse, pushed: Pushed) => void

export interface PushedAgent {
  readonly url: string
  /** Everything that it was sent. */
  readonly pushed: Pushed[]
  /** How many requests were closed before they were answered. */
  readonly cutOff: () => number
  /** What it answers from now on. */
  answer(answerer: Answerer): void
  close(): void
}

export const pushSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** As infra/protocols/agents.md tells agents to check it. */
export function isSignedBy(secret: string, { headers, text }: Pushed): boolean {
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${text}`
  const mac = createHmac('sha256', Buffer.from(secret.slice(6), 'base64')).update(signed)
  return String(headers['webhook-signature'])
    .split(' ')
    .includes(`v1,${mac.digest('base64')}`)
}

export const answerJson =
  (body: object, status = 200): Answerer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

export const answerStatus =
  (status: number, headers: Readonly<Record<string, string>> = {}): Answerer =>
  (response) =>
    response.writeHead(status, headers).end('what it says stands in no log: TOPSECRET')

export async function openPushedAgent(): Promise<PushedAgent> {
  const pushed: Pushed[] = []
  let answerer: Answerer = answerJson({ outcome: 'complete' })
  let cutOff = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const one = { headers: request.headers, text, body: JSON.parse(text) as Pushed['body'] }
      pushed.push(one)
      answerer(response, one)
    })
    response.on('close', () => {
      if (!response.writableFinished) cutOff += 1
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/work?for=baton`,
    pushed,
    cutOff: () => cutOff,
    answer(next) {
      answerer = next
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
