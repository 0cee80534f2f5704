// An agent in TypeScript, on the SDK: a worker of its own, and a program that sends to it.
import type { AgentTemplate, TemplateFiles } from './agent-template.ts'
import { readmeOf } from './agent-template.ts'

/** `sdk` is the tarball beside them or the versions that npm may take, `typescript` the version of the compiler. */
interface TypescriptTemplate extends AgentTemplate {
  readonly sdk: { readonly tarball: string } | { readonly range: string }
  readonly typescript: string
}

export const typescriptAgent = (told: TypescriptTemplate): TemplateFiles => ({
  'agent.ts': agent(told),
  'send.ts': send(told),
  'package.json': manifest(told),
  'tsconfig.json': TSCONFIG,
  '.gitignore': 'node_modules\n.env\n',
  'README.md': readmeOf(told, {
    needs:
      'It needs Node 22.19 or later; where yours is older, the first line below puts Baton’s own first.',
    agent: 'npm install\nnpm run agent',
    send: 'npm run send -- "four words to count"',
    files: `- \`agent.ts\`: the agent. Change \`execute\`, and in \`requires\` what the state must have; \`next: [{ to, taskDescription }]\` hands on to another agent type.
- \`send.ts\`: sends the first handoff of a task, and waits for what comes of it.
- \`npm run check\` checks the types.${'tarball' in told.sdk ? packedHere(told.sdk.tarball) : ''}`,
  }),
})

const packedHere = (tarball: string): string => `
- \`${tarball}\`: \`@baton/sdk\`, packed from the folder of Baton by \`npm run packages -- pack ${'FOLDER'} @baton/sdk\`.`

const agent = ({
  name,
}: AgentTemplate): string => String.raw`// The agent ${name}: hosted here until Ctrl-C.
import { createWorker, defineAgent, openTransport, readWorkerOptions } from '@baton/sdk'

const agent = defineAgent({
  type: '${name}',
  version: '1.0.0',
  // A handoff whose state lacks one of these goes back to its sender.
  requires: ['text'],
  async execute({ state, taskId }) {
    const words = String(state['text']).split(/\s+/).filter((word) => word !== '').length
    console.log(taskId + ': ' + words + ' words')
    return {
      subtask: { subtaskId: 'count', description: 'Count the words', result: { words } },
      state,
      costUSD: 0,
      tokens: { prompt: 0, completion: 0 },
      next: [],
      result: { words },
    }
  },
})

const { queue, ...options } = readWorkerOptions(process.env)
const transport = await openTransport(queue)
const worker = createWorker({ ...options, transport, agents: [agent] })
await worker.start()
console.log('${name} waits for work; Ctrl-C ends it')

async function stop() {
  await worker.stop()
  await transport.close()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop())
`

const send = ({
  name,
}: AgentTemplate): string => `// Hands a text to the agent ${name} and prints what came of it: npm run send -- "four words to count"
import { createSender, readSenderOptions } from '@baton/sdk'

const [text = ''] = process.argv.slice(2)
await using sender = createSender(readSenderOptions(process.env))

const { taskId } = await sender.send(
  {
    taskId: crypto.randomUUID(),
    agent: { agentId: '${name}-sender', agentVersion: '1.0.0' },
    currentState: { text },
    // What the task may cost in all.
    cost: {
      spentSoFarUSD: 0,
      budgetRemainingUSD: 1,
      ownCostUSD: 0,
      tokenSpent: { prompt: 0, completion: 0 },
    },
  },
  '${name}',
)
console.log('task ' + taskId + ' is durable')

const { status, result, reason, ended } = await sender.outcome(taskId)
console.log(status, JSON.stringify(result ?? reason))
if (!ended) console.log('Nobody has taken it yet: does the agent run? (npm run agent)')
if (status !== 'COMPLETED') process.exitCode = 1
`

const manifest = ({ name, sdk, typescript }: TypescriptTemplate): string =>
  json({
    name,
    version: '1.0.0',
    private: true,
    type: 'module',
    engines: { node: '>=22.19' },
    scripts: { agent: 'node agent.ts', send: 'node send.ts', check: 'tsc' },
    dependencies: { '@baton/sdk': 'tarball' in sdk ? `file:${sdk.tarball}` : sdk.range },
    devDependencies: { typescript },
  })

const TSCONFIG = json({
  compilerOptions: {
    target: 'esnext',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    noEmit: true,
  },
  include: ['*.ts'],
})

function json(content: object): string {
  return `${JSON.stringify(content, null, 2)}\n`
}
