// Builds that are wrong about graphs on purpose; `npm run chaos -- graphs --known-bad all` must catch each of them.
import type { KnownBad } from './known-bad.ts'

export const GRAPH_BUILDS: readonly KnownBad[] = [
  {
    name: 'sibling-overspend',
    about: 'every branch is given all that is left',
    edits: [
      {
        file: 'packages/engine/src/decide/branches.ts',
        find: `const part = others === 0 ? 0 : Math.floor((left - askedFor) / others)`,
        replace: `const part = left - askedFor`,
      },
    ],
    breaks: ['I8'],
  },
  {
    name: 'early-join',
    about: 'a join does not wait for the last of the branches that it must wait for',
    edits: [
      {
        file: 'packages/store/src/fan-outs.ts',
        find: `(f.join_after is not null and \${completed} >= f.join_after)`,
        replace: `(f.join_after is not null and \${completed} >= f.join_after - 1)`,
      },
      {
        file: 'packages/engine/src/fan-in.ts',
        find: `const isEnough = completed >= (joinAfter ?? branches.length)`,
        replace: `const isEnough = completed >= (joinAfter ?? branches.length) - 1`,
      },
    ],
    breaks: ['I5'],
  },
  {
    name: 'label-dropped',
    about: 'what an agent hands on says nothing of how sensitive it is',
    edits: [
      {
        file: 'packages/engine/src/decide/carried-over.ts',
        find: `    ...classificationOf(message, next),\n`,
        replace: ``,
      },
    ],
    breaks: ['I9'],
  },
  {
    name: 'nested-left-open',
    about: 'a join goes on, and what it did not wait for stays open within its branches',
    edits: [
      {
        file: 'packages/store/src/fan-outs.ts',
        find: `where branch_id in (select id from inside) and state in ('OPEN', 'READY') returning id`,
        replace: `where branch_id in (select id from inside) and state = 'NONE' returning id`,
      },
    ],
    breaks: ['I2'],
  },
]
