// Has the page drawn anew when light turns dark, or dark light: charts come with their colours.
//
// Streamlit calls this with each drawing, and when the theme changed.

export default function ({ parentElement, setTriggerValue }) {
  const ground = getComputedStyle(parentElement).getPropertyValue("--st-background-color");
  const before = parentElement.ground;
  parentElement.ground = ground;
  if (before && before !== ground) setTriggerValue("turned", true);
}
