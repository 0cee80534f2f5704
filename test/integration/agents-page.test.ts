// The commands of infra/protocols/agents.md do what the page says; the agent that it calls is the example in Python.
import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '@baton/embedded'
import { eventually } from '@baton/testkit'
import { openPullWorld, pullKeys } from './pull-fixture.ts'
import type { PullWorld } from './pull-fixture.ts'
import { answerJson, openPushedAgent, pushSecret } from './pushed-agent.ts'
import type { PushedAgent } from './pushed-agent.ts'

const ROOT = new URL('../../', import.meta.url)
const page = readFileSync(new URL('infra/protocols/agents.md', ROOT), 'utf8')

const blockOf = (language: string): string =>
  new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(page)?.[1] ?? ''

const hasPython = (): boolean => {
  try {
    return execFileSync('python3', ['--version'], { encoding: 'utf8' }).startsWith('Python')
  } catch {
    return false
  }
}

let world: PullWorld
let endpoint: PushedAgent
let folder = ''
let port = 0
const secret = pushSecret()
beforeAll(async () => {
  world = await openPullWorld('agents page')
  endpoint = await openPushedAgent()
  folder = await mkdtemp(join(tmpdir(), 'baton-page-'))
  port = await freePort()
  const [agent] = (JSON.parse(blockOf('json')) as { agents: readonly object[] }).agents
  const agents = [
    { ...agent, url: `http://127.0.0.1:${port}/work` },
    { ...agent, type: 'checked', url: endpoint.url },
  ]
  await writeFile(join(folder, 'agents.json'), JSON.stringify({ agents }))
})
afterAll(async () => {
  endpoint.close()
  await world.close()
  await rm(folder, { recursive: true })
})

it('claims, keeps and settles with curl', async () => {
  const { handoffId } = await world.send('word-count')
  const child = spawn('sh', ['-euc', blockOf('sh')], {
    env: { ...process.env, BATON: world.url(), KEY: pullKeys.puller.key },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  await world.reaches(handoffId, 'COMPLETED')
  await eventually(async () => output.split('\n').length > 2, {
    deadlineMs: 5_000,
    describe: () => `two lines, not\n${output}`,
  })
  expect(output).toBe('"held":true\n"state":"COMPLETED"\n')
})

it.skipIf(!hasPython())(
  'calls the agent of the page (needs python3), and is believed by each way to check it',
  async () => {
    const example = spawn(
      'python3',
      [new URL('clients/python/examples/push.py', ROOT).pathname, String(port), secret],
      { env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }, stdio: 'ignore' },
    )
    try {
      await world.system.start('receiver', {
        BATON_AGENTS: '',
        BATON_PUSH_AGENTS: join(folder, 'agents.json'),
        WORD_COUNT_SECRET: `${pushSecret()},${secret}`,
      })
      const counted = await world.send('word-count', { state: { currentState: { text: 'a b c' } } })
      expect((await world.reaches(counted.handoffId, 'COMPLETED')).result).toEqual({ words: 3 })
    } finally {
      example.kill('SIGKILL')
    }
    endpoint.answer(answerJson({ outcome: 'complete' }))
    await world.reaches((await world.send('checked')).handoffId, 'COMPLETED')
    const [pushed] = endpoint.pushed
    if (pushed === undefined) throw new Error('nothing was pushed')
    const check = `${stripTypeScriptTypes(blockOf('ts'))}
    const [secret, headers, body] = JSON.parse(process.argv[1])
    console.log(isSigned(secret, headers, body), isSigned(secret, headers, body + ' '))`
    const asked = JSON.stringify([secret, pushed.headers, pushed.text])
    const said = execFileSync(process.execPath, ['--input-type=module', '--eval', check, asked], {
      timeout: 30_000,
    })
    expect(said.toString()).toBe('true false\n')
    const inShell = execFileSync('bash', ['-euc', blockOf('bash')], {
      timeout: 30_000,
      env: {
        ...process.env,
        SECRET: secret,
        ID: String(pushed.headers['webhook-id']),
        TIMESTAMP: String(pushed.headers['webhook-timestamp']),
        BODY: pushed.text,
      },
    })
    expect(String(pushed.headers['webhook-signature'])).toContain(`v1,${inShell.toString().trim()}`)
  },
)
