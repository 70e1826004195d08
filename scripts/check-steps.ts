/** A part of `pnpm check`; a job of CI runs it too. */
export interface Step {
  readonly name: string
  /** Arguments of `pnpm`. */
  readonly command: readonly string[]
  /** Further arguments with `--quick`. */
  readonly quick?: readonly string[]
  /** Prints its output while it runs; the others print theirs only on failure. */
  readonly live?: true
}

// The longest steps come first.
export const STEPS: readonly Step[] = [
  {
    // Builds both editions, in copies of the tree.
    name: 'community edition',
    command: ['exec', 'node', 'scripts/community.ts'],
    quick: ['--quick'],
    live: true,
  },
  { name: 'fresh copy', command: ['exec', 'node', 'scripts/fresh-clone.ts'], live: true },
  { name: 'format', command: ['exec', 'oxfmt', '--check'] },
  { name: 'lint', command: ['exec', 'oxlint'] },
  { name: 'license boundary', command: ['exec', 'turbo', 'boundaries'] },
  { name: 'unused code', command: ['exec', 'knip'] },
  { name: 'spelling', command: ['lint:words'] },
  { name: 'types', command: ['types'] },
  { name: 'openapi.json', command: ['openapi', '--check'] },
  { name: 'openapi lint', command: ['lint:openapi'] },
  // The grammars alone must train to the recorded weights, bit by bit.
  { name: 'guard training', command: ['--filter', '@remit/guard-training', 'train', '--check'] },
]
