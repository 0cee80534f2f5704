// What the gateway answers comes out as it was meant: its data, or its own code, words and fix.
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGatewayClient } from './gateway-client.ts'

const answers: Record<string, { status: number; body: string }> = {
  '/fine': { status: 200, body: '{"fine":true}' },
  '/refused': { status: 403, body: '{"code":"BATON_SCOPE_MISSING","detail":"No.","fix":"Ask."}' },
  '/busy': { status: 503, body: '{"code":"BATON_BUSY","detail":"Later."}' },
  '/strange': { status: 502, body: '<html>' },
  '/moved': { status: 302, body: '' },
}

let server: Server
let url = ''
const heard: string[] = []
beforeAll(async () => {
  server = createServer((request, response) => {
    const { status, body } = answers[request.url ?? ''] ?? { status: 404, body: '{}' }
    heard.push(`${request.method} ${request.headers.authorization}`)
    if (status === 302) response.setHeader('location', '/fine')
    response.statusCode = status
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

describe('the gateway client', () => {
  it('answers the JSON of a success and sends its key', async () => {
    const client = createGatewayClient(url, 'bk_one_secret')
    expect(await client.get('/fine')).toEqual({ fine: true })
    expect(await client.post('/fine', { a: 1 })).toEqual({ fine: true })
    expect(heard.slice(-2)).toEqual(['GET Bearer bk_one_secret', 'POST Bearer bk_one_secret'])
  })

  it.each([
    ['/refused', { code: 'BATON_SCOPE_MISSING', message: 'No.', fix: 'Ask.', kind: 'permanent' }],
    ['/busy', { code: 'BATON_BUSY', kind: 'transient' }],
    ['/strange', { code: 'BATON_GATEWAY_UNAVAILABLE', kind: 'transient' }],
    ['/moved', { code: 'BATON_GATEWAY_UNAVAILABLE', kind: 'transient' }],
  ])('throws what %s answers', async (path, problem) => {
    await expect(createGatewayClient(url, 'k').get(path)).rejects.toMatchObject(problem)
  })

  it('says that nobody answers, and never shows the key', async () => {
    const failed = createGatewayClient('http://127.0.0.1:9', 'bk_one_secret').get('/fine')
    await expect(failed).rejects.toMatchObject({ code: 'BATON_GATEWAY_UNAVAILABLE' })
    await expect(failed).rejects.not.toThrow(/bk_one_secret/)
  })
})
