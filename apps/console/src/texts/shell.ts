export const shell = {
  navigation: 'Pages',
  skip: 'Skip to the content',
  menu: 'Menu',
  signOut: 'Sign out',
  shortcuts: 'Keyboard shortcuts',
  evaluation: 'Evaluation',
  evaluationText: 'This server runs in evaluation mode, without a license.',
  docs: 'API reference',
  pending: (n: number) => `${n} pending`,
} as const
