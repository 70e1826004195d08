/** A part of `pnpm check`; a job of CI runs it too. */
export interface Step {
  readonly name: string
  /** Arguments of `pnpm`. */
  readonly command: readonly string[]
  /** Further arguments with `--quick`. */
  readonly quick?: readonly string[]
  /** Prints its output while it runs; the others print theirs only on failure. */
  readonly live?: true
  /** With `REMIT_TEST_RUNS=complete` only: takes minutes, and few changes can break it. */
  readonly complete?: true
  /** Has a limit of time: after a failure beside other steps it is run once more, alone. */
  readonly timed?: true
}

/** They run beside the tests. */
export const STEPS: readonly Step[] = [
  { name: 'lint and types', command: ['exec', 'oxlint', '--type-check'] },
  // The grammars alone must train to the recorded weights, bit by bit.
  {
    name: 'guard training',
    command: ['--filter', '@remit/guard-training', 'train', '--check'],
    complete: true,
  },
  { name: 'spelling', command: ['lint:words'] },
  { name: 'unused code', command: ['exec', 'knip'] },
  { name: 'openapi lint', command: ['lint:openapi'] },
  { name: 'openapi.json', command: ['openapi', '--check'] },
  { name: 'kinds of entries', command: ['entry-kinds', '--check'] },
  { name: 'license boundary', command: ['exec', 'turbo', 'boundaries'] },
  { name: 'format', command: ['exec', 'oxfmt', '--check'] },
  { name: 'fresh copy', command: ['exec', 'node', 'scripts/fresh-clone.ts'], timed: true },
  {
    // Builds both editions, in copies of the tree. The tests have built the open packages by then.
    name: 'community edition',
    command: ['exec', 'node', 'scripts/community.ts'],
    quick: ['--quick'],
    live: true,
  },
]
