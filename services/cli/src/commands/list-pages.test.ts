// What is read whole is shown in pages too, and every list of the command line has the same options.
import type { Command } from 'commander'
import { expect, it } from 'vitest'
import { createProgram } from '../program.ts'
import { createOutput } from '../terminal/output.ts'
import { pageOfAll, readCursor, sayShown, typedAgain } from './list-pages.ts'
import type { Listed } from './list-pages.ts'

const ALL = ['cy', 'ann', 'bob', 'Dan'].map((name) => ({ name }))
const page = (flags: { limit: number; cursor?: string | undefined; all?: boolean }, all = ALL) =>
  pageOfAll(all, { keyOf: ({ name }) => name, flags })

it('shows every row once, in one order, also where the last one shown is gone meanwhile', () => {
  const first = page({ limit: 2 })
  expect(first.rows.map(({ name }) => name)).toEqual(['Dan', 'ann'])
  expect(first).toMatchObject({ total: 4, totalIsExact: true })
  const gone = ALL.filter(({ name }) => name !== 'ann')
  const second = page({ limit: 2, cursor: first.nextCursor ?? '' }, gone)
  expect(second.rows.map(({ name }) => name)).toEqual(['bob', 'cy'])
  expect(second.nextCursor).toBeNull()
  expect(page({ limit: 1, all: true }).rows).toHaveLength(4)
})

it.each(['', 'x', 'bm9uZQ==', 'AAAA'])('refuses the cursor %j', (cursor) => {
  expect(() => readCursor(cursor, /^[a-z]{2,}$/)).toThrow('the cursor is none that this list gave')
})

it('says how much of the list is shown, and how to go on, as it is typed', () => {
  const said: string[] = []
  const write = (text: string | Uint8Array) => void said.push(String(text))
  const output = createOutput({ stdout: { write }, stderr: { write } }, false)
  const say = (listed: Listed<unknown>) => sayShown(output, listed, 'people ls --limit 2')
  say(page({ limit: 4 }))
  expect(said).toEqual([])
  say(page({ limit: 2 }))
  expect(said.pop()).toMatch(/^2 of 4 shown; next: .*people ls --limit 2 --cursor YW5u\n$/)
  expect(typedAgain({ reason: "it's", limit: 2, cluster: 'A b@/c' })).toBe(
    String.raw` --reason 'it'\''s' --limit 2 --cluster 'A b@/c'`,
  )
})

/** Lists that stay short by a rule of their own, or are no rows of one kind. */
const OTHERS: Readonly<Record<string, string>> = {
  settings: 'one row for each setting there is',
  'certs ls': 'one for each process and host that was named',
  subject: 'at most 1,000 records, and judged as a whole',
}

function leavesOf(command: Command, names: readonly string[] = []): readonly [string, Command][] {
  const under = command.commands.flatMap((one) => leavesOf(one, [...names, one.name()]))
  return under.length > 0 ? under : [[names.join(' '), command]]
}

const program = createProgram(
  {
    openContext: () => expect.unreachable(),
    writeOut: () => undefined,
    writeError: () => undefined,
  },
  () => async () => undefined,
)
const lists = leavesOf(program).filter(
  ([name, command]) =>
    !(name in OTHERS) && (name.endsWith(' ls') || command.description().startsWith('list ')),
)

it('are more than ten', () => expect(lists.length).toBeGreaterThan(10))

it.each([...lists.map(([name]) => name), 'dlq clusters', 'safety released', 'audit holds'])(
  '%s takes --limit, --cursor and --all',
  (name) => {
    const [, command] = leavesOf(program).find(([one]) => one === name) ?? []
    const options = command?.options.map(({ long }) => long)
    expect(options).toEqual(expect.arrayContaining(['--limit', '--cursor', '--all']))
  },
)
