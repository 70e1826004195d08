export const shortcuts = {
  title: 'Keyboard shortcuts',
  anywhere: 'Anywhere',
  search: 'Search; ⌘K on a Mac',
  help: 'Show this list',
  lists: 'While a list has the focus',
  next: 'Next item',
  previous: 'Previous item',
  approve: 'Approve the selected request',
  reject: 'Reject the selected request',
  switch: 'Use shortcuts of a single key',
  switchHint: 'Switch them off if speech input or another tool triggers them.',
} as const
