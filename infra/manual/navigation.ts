// Where each page of the manual stands. A page under infra/ that no list names stands under “More” by itself, so that none is missing.

/** A list of pages under one heading of the navigation. */
export interface Group {
  readonly label: string
  /** The first part of the addresses of its pages. */
  readonly folder: string
  /** Paths from the checkout's root, in the order in which they are shown. */
  readonly pages: readonly string[]
  /** Pages that are there and stand in no list: those whose path this matches are shown after the others. */
  readonly rest?: RegExp
}

/** One of the kinds of documentation of Diátaxis, and the runbooks. */
export interface Section {
  readonly label: string
  /** What a reader finds there, for the first page and for llms.txt. */
  readonly about: string
  readonly groups: readonly Group[]
}

/** The first page of the site. */
export const HOME = 'infra/manual/home.md'

/** Its sections are so long that each is a page of its own; the words before the first are the page that leads to them. */
export const SPLIT: ReadonlySet<string> = new Set(['infra/README.md'])

/** Shorter names for the navigation, where a title is a sentence. */
export const SHORT_LABELS: Readonly<Record<string, string>> = {
  'README.md': 'Baton at a glance',
  'infra/tutorial.md': 'Five minutes',
  'infra/why.md': 'Why not just a queue?',
  'infra/administration.md': 'Acts of operators',
  'infra/database-roles.md': 'Database roles',
  'infra/kms.md': 'Wrapping key in AWS KMS',
  'infra/rotation.md': 'Changing keys',
  'infra/service-levels.md': 'Service levels',
  'infra/supply-chain.md': 'Supply chain',
  'infra/protocols/coverage.md': 'Protocol coverage',
  'infra/protocols/handoff-v01.md': 'Protocol v0.1, by files',
  'infra/protocols/sw4rm.md': 'SW4RM',
  'infra/alerts.md': 'Alerts',
  'packages/README.md': 'Architecture',
  'schemas/README.md': 'Formats',
  'services/README.md': 'Processes',
  'test/README.md': 'How it is tested',
  'test/bench/results.md': 'Measurements',
  'packages/ledger/verifier/FORMAT.md': 'Evidence format',
  'packages/safety/model-card.md': 'The scanner’s model',
  'CHANGELOG.md': 'Changes',
}

export const SECTIONS: readonly Section[] = [
  {
    label: 'Tutorial',
    about: 'Learn by doing: one handoff from nothing to a proof, in five minutes.',
    groups: [
      { label: 'Start here', folder: '', pages: ['infra/tutorial.md'] },
      {
        label: 'Examples',
        folder: 'examples',
        pages: [
          'examples/two_agents/README.md',
          'examples/contract-review/README.md',
          'examples/insurance-claim/README.md',
          'examples/loan-origination/README.md',
          'examples/clinical-summary/README.md',
          'examples/all_protocols/README.md',
          'examples/four_frameworks/README.md',
        ],
      },
    ],
  },
  {
    label: 'How-to',
    about: 'Reach one goal: start it, keep it safe, decide, prove, connect agents.',
    groups: [
      {
        label: 'Run it',
        folder: 'run',
        pages: [
          'infra/README.md',
          'infra/capacity.md',
          'infra/monitoring/README.md',
          'infra/service-levels.md',
          'infra/alerts-as-webhooks.md',
          'infra/events.md',
          'infra/opentelemetry.md',
          'infra/game-days.md',
        ],
        rest: /^infra\/(?!runbooks\/|protocols\/|reference\/).*\.md$/,
      },
      {
        label: 'Keep it safe',
        folder: 'secure',
        pages: [
          'infra/tls.md',
          'infra/keys.md',
          'infra/oidc.md',
          'infra/tenants.md',
          'infra/database-roles.md',
          'infra/kms.md',
          'infra/rotation.md',
          'infra/supply-chain.md',
        ],
      },
      {
        label: 'Decide and prove',
        folder: 'prove',
        pages: [
          'infra/decisions.md',
          'infra/compliance.md',
          'infra/administration.md',
          'infra/safety.md',
        ],
      },
      {
        label: 'Connect agents',
        folder: 'agents',
        pages: [
          'infra/protocols/agents.md',
          'infra/frameworks.md',
          'infra/streams.md',
          'infra/transports.md',
        ],
        rest: /^infra\/protocols\/(?!coverage\.md$).*\.md$/,
      },
    ],
  },
  {
    label: 'Reference',
    about: 'Look it up: generated from the program, or held to it by a test.',
    groups: [
      {
        label: 'Interfaces',
        folder: 'reference',
        pages: [
          'infra/reference/commands.md',
          'infra/reference/http.md',
          'infra/reference/auditor-http.md',
          'infra/reference/messages.md',
          'schemas/README.md',
          'packages/ledger/verifier/FORMAT.md',
        ],
        rest: /^infra\/reference\/.*\.md$/,
      },
      {
        label: 'Operation',
        folder: 'reference',
        pages: [
          'infra/settings.md',
          'infra/errors.md',
          'infra/metrics.md',
          'infra/alerts.md',
          'services/README.md',
        ],
      },
      {
        label: 'The project',
        folder: 'reference',
        pages: [
          'packages/glossary.md',
          'infra/protocols/coverage.md',
          'packages/safety/model-card.md',
          'test/bench/results.md',
          'test/README.md',
          'CHANGELOG.md',
        ],
      },
    ],
  },
  {
    label: 'Explanation',
    about: 'Understand it: what it is for, how it works, and what it cannot do.',
    groups: [
      {
        label: 'Explanation',
        folder: 'explanation',
        pages: [
          'README.md',
          'infra/concepts.md',
          'infra/why.md',
          'infra/threat-model.md',
          'infra/compliance-map.md',
          'packages/README.md',
          'packages/walk.md',
        ],
      },
    ],
  },
  {
    label: 'Runbooks',
    about: 'Somebody was woken: one page for each alert, with the first three commands.',
    groups: [
      { label: 'Runbooks', folder: 'runbooks', pages: [], rest: /^infra\/runbooks\/.*\.md$/ },
    ],
  },
]
